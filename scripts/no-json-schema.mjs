// Replaces the module that the MCP SDK imports for Node. It has no validator of elicitation answers, because forge never
// asks a client a question.
import process from 'node:process';

export { process };
export class DefaultJsonSchemaValidator {}
