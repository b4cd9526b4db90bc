// What the MCP SDK takes from Node, without a validator for the answers to questions (elicitation).
import process from 'node:process';

export { process };
export class DefaultJsonSchemaValidator {}
