import { command } from '../cli/spec.js';
import { plural } from '../core/text.js';
import type { Compacted } from '../index.js';

interface Folded {
  folded: { tier: string; records: number; segments: number }[];
}

export const keeping = [
  command<Folded>({
    name: 'fold',
    summary: 'Move the segments into the fixed files; on the default branch only',
    example: 'forge memory fold',
    writes: true,
    run: (call) => call.forge().memory.fold(),
    render: ({ folded }) =>
      folded.length === 0
        ? 'Nothing to fold.'
        : folded
            .map(
              ({ tier, records, segments }) =>
                `${tier}: ${plural(records, 'record')} from ${plural(segments, 'segment')}`,
            )
            .join('\n'),
  }),
  command<Compacted>({
    name: 'compact',
    summary: 'Seal all but the last 1,000 cycles into an archive that stays verifiable',
    example: 'forge memory compact',
    writes: true,
    run: (call) => call.forge().memory.compact(),
    render: ({ archived, archive }) =>
      archive === null
        ? 'Nothing is old enough to be sealed.'
        : `${plural(archived, 'record')} sealed in .forge/memory/archive/${archive}.jsonl`,
  }),
];
