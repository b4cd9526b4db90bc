import type { Style } from '../cli/style.js';
import { oneLine } from '../core/text.js';
import type { FeatureResult } from '../index.js';

/** What running a feature's tests made of it, in one line. */
export function resultLine(result: FeatureResult, style: Style): string {
  const { id, status, before, duration_ms, failure, command, planned } = result;
  if (planned) return `${style.dim('would run')} ${id}  ${oneLine(command, 300)}`;
  const mark = status === 'passing' ? style.good('✓') : style.bad('✗');
  const change = before === status ? status : `${before} → ${status}`;
  const why = failure ? `  ${oneLine(failure, 200)} (${oneLine(command, 100)})` : '';
  return `${mark} ${id}  ${change}  ${(duration_ms / 1000).toFixed(1)} s${why}`;
}
