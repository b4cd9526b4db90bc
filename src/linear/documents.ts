import * as z from 'zod/mini';
import { REMOTE_ISSUE } from './rules.js';

// Every GraphQL document that forge sends, with the shape of its answer.

const FIELDS = `id identifier title description priority branchName url createdAt updatedAt
  state { name type } labels { nodes { name } } parent { identifier }`;

export interface Document<T> {
  text: string;
  answer: z.ZodMiniType<T>;
}

const document = <T>(text: string, answer: z.ZodMiniType<T>): Document<T> => ({ text, answer });

const STATES = z.object({
  nodes: z.array(z.object({ id: z.string(), type: z.string(), position: z.number() })),
});
const SUCCESS = z.object({ success: z.boolean() });

export const ASSIGNED = document(
  `query Assigned($after: String) { viewer { assignedIssues(first: 50, after: $after,
    filter: { state: { type: { nin: ["completed", "canceled", "duplicate"] } } }) {
    nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } } }`,
  z.object({
    viewer: z.object({
      assignedIssues: z.object({
        nodes: z.array(REMOTE_ISSUE),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.nullish(z.string()) }),
      }),
    }),
  }),
);

export const ISSUE = document(
  `query Issue($id: String!) { issue(id: $id) { ${FIELDS}
    team { id states { nodes { id type position } } } } }`,
  z.object({
    issue: z.nullable(z.extend(REMOTE_ISSUE, { team: z.object({ id: z.string(), states: STATES }) })),
  }),
);

export const COMMENT = document(
  'query Comment($id: String!) { comment(id: $id) { id } }',
  z.object({ comment: z.nullable(z.object({ id: z.string() })) }),
);

export const TEAMS = document(
  'query Teams { teams(first: 50) { nodes { id key } } }',
  z.object({ teams: z.object({ nodes: z.array(z.object({ id: z.string(), key: z.string() })) }) }),
);

export const CREATE = document(
  `mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${FIELDS} } } }`,
  z.object({ issueCreate: z.object({ issue: z.nullable(REMOTE_ISSUE) }) }),
);

export const ADD_COMMENT = document(
  'mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }',
  z.object({ commentCreate: SUCCESS }),
);

export const UPDATE = document(
  'mutation Update($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }',
  z.object({ issueUpdate: SUCCESS }),
);
