// A Linear that has 1,000 assigned issues, and nothing else: node linear-server.mjs; prints its address.
import { createServer } from 'node:http';

const ISSUES = 1000;
const PAGE = 50;
const nodes = Array.from({ length: ISSUES }, (_, i) => ({
  id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  identifier: `APP-${i + 1}`,
  title: `Issue ${i + 1} does what its title says`,
  description: 'A description of two sentences. It says what is wanted, and why.',
  priority: (i % 4) + 1,
  branchName: `ada/app-${i + 1}`,
  url: `https://linear.app/app/issue/APP-${i + 1}`,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  state: { name: 'Todo', type: 'unstarted' },
  labels: { nodes: [{ name: 'bug' }] },
  parent: null,
}));

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const start = Number(JSON.parse(text).variables?.after ?? 0);
  const end = start + PAGE;
  const pageInfo = { hasNextPage: end < ISSUES, endCursor: String(end) };
  const data = { viewer: { assignedIssues: { nodes: nodes.slice(start, end), pageInfo } } };
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/graphql`));
