import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { onTestFinished } from 'vitest';

const TYPES = readFileSync(new URL('../fixtures/linear.graphql', import.meta.url), 'utf8');

export interface RemoteIssue {
  id: string;
  identifier: string;
  title: string;
  description: string;
  type: string;
  labels: string[];
  updatedAt?: string;
}

const STATES = ['backlog', 'unstarted', 'started', 'completed', 'canceled'].map((type, position) => ({
  ...{ id: `state-${type}`, name: `My ${type}`, type, position },
}));

const AS_JSON = { 'content-type': 'application/json' };
const errorOf = (message: string, code: string): string =>
  JSON.stringify({ errors: [{ message, extensions: { code } }] });

/** How the next requests are answered instead. */
const ANSWERS = {
  expired: [401, AS_JSON, errorOf('Authentication required', 'AUTHENTICATION_ERROR')],
  limit: [429, { ...AS_JSON, 'retry-after': '120' }, errorOf('Rate limit', 'RATELIMITED')],
  error: [502, {}, 'bad gateway'],
  html: [200, { 'content-type': 'text/html' }, '<html>hello</html>'],
  half: [200, AS_JSON, '{"data":{"viewer":'],
  odd: [200, AS_JSON, '{"data":{"issue":null,"teams":{"nodes":[{}]}}}'],
  redirect: [302, { location: 'http://127.0.0.1:9/' }, ''],
} satisfies Record<string, [status: number, headers: Record<string, string>, body: string]>;

export type Fault = keyof typeof ANSWERS | 'none' | 'hang' | 'lost' | 'huge' | 'every second';

export interface LinearServer {
  env: Record<string, string>;
  issues: RemoteIssue[];
  comments: { id: string; issue: string; body: string }[];
  /** Names of the operations that were carried out. */
  done: string[];
  requests: number;
  fault: Fault;
}

const KEY = 'lin_api_local_key';

/** A Linear on loopback, with a switch for each way in which it can fail. */
export async function startLinear(given: Partial<RemoteIssue>[] = []): Promise<LinearServer> {
  const state: LinearServer = {
    ...{ env: {}, comments: [], done: [], requests: 0, fault: 'none' },
    issues: given.map((issue, i) => ({
      ...{ id: `00000000-0000-4000-8000-${String(i + 1).padStart(12, '0')}`, identifier: `APP-${i + 1}` },
      ...{ title: `Issue ${i + 1}`, description: '', type: 'unstarted', labels: [] },
      ...issue,
    })),
  };
  const yoga = createYoga({
    schema: createSchema({ typeDefs: TYPES, resolvers: resolvers(state) as never }),
    logging: false,
  });
  const server: Server = createServer((request, response) => {
    state.requests++;
    const now = state.fault === 'every second' ? (state.requests % 2 === 1 ? 'error' : 'none') : state.fault;
    const fault = request.headers.authorization === KEY ? now : 'expired';
    if (fault in ANSWERS) {
      const [status, headers, body] = ANSWERS[fault as keyof typeof ANSWERS];
      return response.writeHead(status, headers).end(body);
    }
    if (fault === 'huge') {
      response.writeHead(200, AS_JSON);
      const write = (): unknown =>
        !response.destroyed && response.write('x'.repeat(1 << 20), () => setImmediate(write));
      return write();
    }
    if (fault === 'hang') return undefined;
    if (fault === 'lost') response.end = (() => response.destroy()) as never;
    return yoga(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  state.env = { LINEAR_API_KEY: KEY, LINEAR_API_URL: `http://127.0.0.1:${port}/graphql` };
  return state;
}

const now = '2026-03-01T10:00:00.000Z';
const team = { id: 'team-1', key: 'APP', states: { nodes: STATES } };

const toNode = (issue: RemoteIssue): object => ({
  ...issue,
  ...{
    priority: 2,
    branchName: `ada/${issue.identifier.toLowerCase()}`,
    url: `https://linear.app/x/${issue.identifier}`,
  },
  ...{ createdAt: now, updatedAt: issue.updatedAt ?? now, team, parent: null },
  state: STATES.find(({ type }) => type === issue.type),
  labels: { nodes: issue.labels.map((name) => ({ id: name, name })) },
});

function resolvers(state: LinearServer): object {
  const find = (id: string): RemoteIssue => {
    const issue = state.issues.find((each) => each.id === id || each.identifier === id);
    if (!issue) throw new Error('Entity not found: Issue');
    return issue;
  };
  return {
    Query: {
      viewer: () => ({ id: 'me' }),
      issue: (_: unknown, { id }: { id: string }) => toNode(find(id)),
      comment: (_: unknown, { id }: { id: string }) => {
        const comment = state.comments.find((each) => each.id === id);
        if (!comment) throw new Error('Entity not found: Comment');
        return comment;
      },
      teams: () => ({ nodes: [team] }),
    },
    User: {
      assignedIssues: (_: unknown, { first = 50, after }: { first?: number; after?: string }) => {
        const open = state.issues.filter(({ type }) => !['completed', 'canceled'].includes(type));
        const start = after ? Number(after) : 0;
        const nodes = open.slice(start, start + first).map(toNode);
        return {
          nodes,
          pageInfo: { hasNextPage: start + first < open.length, endCursor: String(start + first) },
        };
      },
    },
    Mutation: {
      issueCreate: (_: unknown, { input }: { input: { id: string; title: string; description: string } }) => {
        if (state.issues.some(({ id }) => id === input.id)) throw new Error('Entity already exists');
        const issue = { ...input, identifier: `APP-${state.issues.length + 1}`, type: 'backlog', labels: [] };
        state.issues.push(issue);
        state.done.push(`create ${issue.identifier}`);
        return { success: true, issue: toNode(issue) };
      },
      commentCreate: (_: unknown, { input }: { input: { id: string; issueId: string; body: string } }) => {
        if (state.comments.some(({ id }) => id === input.id)) throw new Error('Entity already exists');
        state.comments.push({ id: input.id, issue: find(input.issueId).identifier, body: input.body });
        state.done.push(`comment ${find(input.issueId).identifier}`);
        return { success: true };
      },
      issueUpdate: (_: unknown, { id, input }: { id: string; input: { stateId: string } }) => {
        const issue = find(id);
        issue.type = STATES.find((each) => each.id === input.stateId)?.type ?? issue.type;
        state.done.push(`${issue.identifier} ${issue.type}`);
        return { success: true, issue: toNode(issue) };
      },
    },
  };
}
