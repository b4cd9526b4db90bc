/** A commit message in the protocol. */
export const MESSAGE = `[SX9-123] Brief description

## What
- Specific change 1

## Why
Rationale for the change

## Memory
- Learned: key insight

## Backtrace
- Parent: none
- Linear: SX9-123
- Session: none
`;
