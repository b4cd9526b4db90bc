// The parts of the NATS libraries that forge uses. The build makes one file of them, which is loaded on use.
export { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
export { type KV, type KvEntry, Kvm } from '@nats-io/kv';
export {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  headers,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
