/** What `forge help TOPIC` explains, in the order of a first reading; the texts are in `templates/topics/`. */
export const TOPICS: readonly (readonly [name: string, summary: string])[] = [
  ['memory', 'What forge keeps, where, and who reads it'],
  ['kfr', 'Working memory: what must be right in the next few turns'],
  ['gate', 'Why a session may not end yet'],
  ['trust', 'What a repository may run on this machine'],
  ['promotion', 'How something seen becomes something known'],
  ['roles', 'Who may change memory'],
  ['checkpoints', 'Verified states to come back to'],
  ['recovery', 'Back to a state that worked, and back again'],
  ['guard', 'Secrets and personal data stay out'],
  ['hooks', 'What git asks forge at commits and pushes'],
  ['agents', 'Forge in the hooks of coding agents'],
  ['config', 'Settings, and what they are when nothing is said'],
  ['environment', 'The variables that forge reads and sets'],
  ['exit-codes', 'What the exit code of a command says'],
];
