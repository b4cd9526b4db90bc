import type { AgentName } from './event.js';

/** `changed`: forge's, but not as this forge would install it. `other_command`: as it would, with another command. */
export type FileState = 'wired' | 'missing' | 'changed' | 'other_command' | 'unreadable';

export interface WiredFile {
  path: string;
  state: FileState;
  /** The command that forge is started with there, when it is another one. */
  command?: string;
  /** What is wrong, where it cannot be read. */
  problem?: string;
}

/** How far an agent is wired. Paths are from the project's top folder, or from home with `~/`. */
export interface AgentStatus {
  name: AgentName;
  title: string;
  state: 'wired' | 'partly' | 'absent';
  files: WiredFile[];
  /** What the agent still needs from the person. */
  wants: string[];
}

export const isHere = ({ state }: Pick<WiredFile, 'state'>): boolean =>
  state === 'wired' || state === 'other_command';
