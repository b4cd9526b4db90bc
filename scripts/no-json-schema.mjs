// What the MCP SDK imports for Node, without the validator of elicitation answers: forge asks a client no questions.
import process from 'node:process';

export { process };
export class DefaultJsonSchemaValidator {}
