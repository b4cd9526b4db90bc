import type { Readable } from 'node:stream';
import type { Forge, ToolName } from '../index.js';

/** What the command line gives the server: it has a bundle of its own, and none of forge's code in it. */
export interface Host {
  version: string;
  channel: Channel;
  /** Aborted when this process is to end: a signal came. */
  stop: AbortSignal;
  /** A fresh look at the `.forge/` for each call. */
  open(): Forge;
  /** Loaded when a client asks for tools: a greeting does not wait for them. */
  inputs(): Promise<Inputs>;
  /** LTM-13: refuses what holds a secret before anything is done with it, or said about it. */
  guard(fields: { path: string; text: string }[], writes: boolean): Promise<void>;
  /** A text as it is stored: without terminal colours and the like. */
  clean(text: string): Promise<string>;
  /** Whether what runs here is a builder: it sees no tool that LTM-12 denies it. */
  isBuilder: boolean;
  /** What may be told of an error. */
  mask(error: unknown): Promise<ToolError>;
}

/** What the tools take. */
export interface Inputs {
  schemas: Record<ToolName, Record<string, unknown>>;
  /** Exit 2 names the field that is wrong. */
  check(name: ToolName, input: unknown): Record<string, unknown>;
}

/** The client's bytes as they come, and lines back to it. */
export interface Channel {
  input: Readable;
  /** False: nobody reads any more. */
  send(line: string): boolean;
}

export interface ToolError {
  kind: string;
  code: string;
  message: string;
  hint?: string;
  [field: string]: unknown;
}
