import { fill, type Random, readSamples } from './secrets.js';

/** One of each, as it stands in a text of people or of programs. */
export const lookAlikes = (random: Random): string[] =>
  readSamples('look-alikes')
    .flatMap(([, all]) => all)
    .flatMap((template) => {
      const text = fill(template, random);
      return [text, `It said: ${text}\nand went on.`, JSON.stringify({ note: text })];
    });
