import { describe, expect, it } from 'vitest';
import { findLongCode, proprietaryRules } from '../../src/guard/proprietary.js';
import { scanText } from '../../src/guard/scan.js';
import { findAll } from '../support/personal.js';

const PROPRIETARY_RULES = proprietaryRules([]);

const found = (text: string): string[] => [
  ...new Set(findAll(PROPRIETARY_RULES, text).map((hit) => hit.rule)),
];
const MARKS = ['', '// ', '# ', ' * ', '/* ', '-- ', ';; ', '<!-- ', '% ', '/** '];

describe('headers', () => {
  it.each([
    ['copyright', 'Copyright (c) 2024 Acme Corp. All rights reserved'],
    ['copyright', 'Copyright 2019-2024 Acme, Inc.'],
    ['copyright', 'Copyright © Acme GmbH'],
    ['copyright', '© 2023 Acme Holdings'],
    ['copyright', '(C) Copyright 2001, 2004 Acme Ltd'],
    ['copyright', 'Copyright Acme Corporation. All Rights Reserved.'],
    ['spdx', 'SPDX-License-Identifier: LicenseRef-Proprietary'],
    ['spdx', 'SPDX-License-Identifier: LicenseRef-Acme-Commercial'],
    ['spdx', 'SPDX-License-Identifier: UNLICENSED'],
    ['confidential', 'CONFIDENTIAL'],
    ['confidential', 'PROPRIETARY AND CONFIDENTIAL'],
    ['confidential', 'Proprietary and Confidential.'],
    ['confidential', 'ACME CONFIDENTIAL'],
    ['confidential', 'Acme Company Confidential'],
    ['trade-secret', 'Trade secret'],
    ['trade-secret', 'This file contains trade secrets of Acme Corp.'],
    ['internal-use', 'Internal use only'],
    ['internal-use', 'For Internal Use Only.'],
    ['internal-use', 'Acme Internal Use Only'],
    ['prohibited', 'Unauthorized copying of this file, via any medium is strictly prohibited'],
    ['property', 'This source code is the property of Acme Corp.'],
    ['property', 'This software is the confidential and proprietary property of Acme'],
    ['no-distribution', 'Do not distribute.'],
    ['no-distribution', 'DO NOT COPY OR DISTRIBUTE'],
  ])('LTM-13 finds %s in %j behind every comment mark, and in JSON', (id, header) => {
    // A copyright line counts only beside code.
    const code = id === 'copyright' ? '\nconst a = f(1);\nconst b = f(2);\nexport { a, b };\n' : '';
    const texts = [
      ...MARKS.map((mark) => `${mark}${header}\n\nint x;\n${code}`),
      ...MARKS.map((mark) => `first line\n  ${mark}${header}\n${code}`),
      JSON.stringify({ text: `${header}${code}` }),
      JSON.stringify({ text: `a line\n// ${header}\nmore${code}` }),
    ];
    expect(texts.filter((text) => !found(text).includes(`proprietary-${id}`))).toEqual([]);
  });

  it.each([
    'We handle confidential data with care.',
    'confidential client handling was fixed',
    'Keep it confidential and proprietary information out of the logs.',
    'The copyright of the logo is unclear; ask legal.',
    'Copyright headers are checked by the linter.',
    'Added a copyright check in 2024.',
    'Unauthorized requests return 401.',
    'The trade secret rule has 3 tests.',
    'The name is the property of the object.',
    'this.x is a property of the class',
    'It is meant for internal use only by the scheduler.',
    'We do not distribute binaries on Windows.',
    'Copy (c) to the clipboard, (c) 12 items',
    'a (c) b (r)',
    'SPDX-License-Identifier: MIT',
    'SPDX-License-Identifier: Apache-2.0 OR MIT',
    '"license": "UNLICENSED"',
    '(c) 3 of the tests fail',
  ])('LTM-13 finds nothing in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  it.each([
    'SPDX-License-Identifier: MIT',
    'Licensed under the Apache License, Version 2.0 (the "License")',
    'Permission is hereby granted, free of charge, to any person obtaining a copy',
    'Redistribution and use in source and binary forms, with or without modification',
    'This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0.',
    'under the terms of the GNU General Public License as published',
    'Permission to use, copy, modify, and/or distribute this software',
    'Released under the MIT license.',
  ])('LTM-13 lets a copyright line with an open licence beside it pass: %s', (licence) => {
    expect(found(`// Copyright (c) 2024 Acme Corp. All rights reserved\n//\n// ${licence}\n`)).toEqual([]);
  });

  it('LTM-13 an open license far away does not count', () => {
    expect(found(`// Copyright (c) 2024 Acme Corp.\n${'x = 1\n'.repeat(600)}// MIT License`)).toEqual([
      'proprietary-copyright',
    ]);
  });

  it('LTM-13 configured owners are not foreign, ignoring case', () => {
    const rules = proprietaryRules(['Acme', ' ']);
    const hits = (text: string): string[] =>
      findAll(rules, `${text}\nconst a = f(1);\nconst b = f(2);\nexport { a, b };`).map((hit) => hit.rule);
    expect(hits('// Copyright (c) 2024 ACME Corp. All rights reserved')).toEqual([]);
    expect(hits('// CONFIDENTIAL\n// © 2024 acme')).toEqual([]);
    expect(hits('// Copyright (c) 2024 Globex Corp.')).toEqual(['proprietary-copyright']);
    expect(hits('// CONFIDENTIAL\n// © 2024 Globex')).toHaveLength(2);
    expect(hits('acme is great\n// CONFIDENTIAL\n')).toEqual(['proprietary-confidential']);
  });

  it.each([
    ...['Copyright ', '// ', ' ', '* ', '(c) 2024', 'CONFIDENTIAL ', 'trade secret '],
    ...['unauthorized use ', '\n', '"', '#', 'Copyright 2024,', 'A & ', 'this file is '],
  ])('LTM-13 takes time in proportion to a text of nothing but %j', (piece) => {
    // A quadratic pattern needs longer for this than a test may take.
    expect(scanText(piece.repeat(1_000_000 / piece.length), PROPRIETARY_RULES)).toBeInstanceOf(Array);
  });
});

const CODE = {
  typescript: `import { a } from './a.js';
export function f(x: number): string {
  const y = x + 1;
  if (y > 2) {
    return a(y);
  }
  for (const z of list) {
    total += z.value;
  }
  return String(y);
}
`,
  python: `import os
from typing import Any

def load(path: str) -> Any:
    """Loads it."""
    with open(path) as handle:
        data = json.load(handle)
    for key, value in data.items():
        if value is None:
            continue
        result[key] = value
    return result
`,
  c: `#include <stdio.h>
static int add(int a, int b)
{
    int c = a + b;
    if (c > 3) {
        printf("%d\\n", c);
    }
    return c;
}

int main(void) {
    return add(1, 2);
}
`,
  go: `package main
import "fmt"
func main() {
	x, err := load()
	if err != nil {
		return
	}
	fmt.Println(x)
	for i := range x {
		fmt.Println(i)
	}
}
`,
} as const;

const NO_CODE: Readonly<Record<string, (i: number) => string>> = {
  'a stack trace': (i) => `    at Object.<anonymous> (/app/src/file${i}.ts:${i}:12)`,
  'a Python trace': (i) => `  File "/app/x${i}.py", line ${i}, in run`,
  'a JSON dump': (i) => `  "key${i}": { "code": ${i}, "message": "failed" },`,
  'a log': (i) => `2026-11-21T07:09:${10 + (i % 50)}Z INFO request ${i} took ${i * 3} ms;`,
  'test output': (i) => ` ✓ test/domain/x${i}.test.ts (${i} tests) ${i}ms`,
  'a diff stat': (i) => ` src/domain/file${i}.ts | ${i} ++++---`,
  'a list': (i) => `- did thing ${i}, then (again) thing ${i + 1};`,
  'a numbered list': (i) => `${i}. run \`npm test\` and look: it says {ok}`,
  'a table': (i) => `| ${i} | const x | return y; |`,
  prose: (i) => `We looked at case ${i} and found that the lock is held while the file is read.`,
  'a shell session': (i) => `$ git log -n ${i}`,
  'file names': (i) => `src/domain/file${i}.ts`,
  'an ls listing': (i) => `-rw-r--r-- 1 root root ${i} Nov 21 07:09 file${i}.ts`,
};

describe('long code', () => {
  it.each(Object.entries(CODE))('LTM-13 finds a long run of %s, with its place', (_language, code) => {
    const text = `We copied this:\n\n${code.repeat(3)}\nThat was it.\n`;
    const place = findLongCode(text);
    expect(place).not.toBeNull();
    expect(text.slice(0, place?.start).split('\n').length).toBeLessThanOrEqual(4);
    expect(text.slice(place?.end).trim().split('\n').length).toBeLessThanOrEqual(3);
  });

  it.each(Object.entries(CODE))('LTM-13 ignores a quotation of %s', (_language, code) => {
    expect(findLongCode(`Look at this:\n\`\`\`\n${code}\`\`\`\nIt fails.`)).toBeNull();
  });

  it.each(Object.entries(NO_CODE))('LTM-13 %s is not code', (_what, line) => {
    expect(findLongCode(Array.from({ length: 60 }, (_, i) => line(i)).join('\n'))).toBeNull();
  });

  it('LTM-13 separate quotations are not a long run', () => {
    const between = 'Then we thought about it.\nIt was not that.\nSo we went on.\n';
    expect(findLongCode(`${CODE.c}${between}`.repeat(6))).toBeNull();
  });

  it('LTM-13 a run may contain a few other lines', () => {
    expect(findLongCode(`${CODE.c}as you can see\n`.repeat(3))).not.toBeNull();
  });

  it.each(['a', '(', '{', ' ', 'a(', 'const a ', '\n', 'a.', '"', 'if (', 'x = ', '<a '])(
    'LTM-13 takes time in proportion to a text of nothing but %j',
    (piece) => {
      // A quadratic pattern would exceed the test timeout on these.
      expect(findLongCode(piece.repeat(1_000_000 / piece.length))).toBeNull();
      expect(() => findLongCode(`${piece.repeat(5)}\n`.repeat(100_000))).not.toThrow();
    },
  );
});
