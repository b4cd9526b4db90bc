/** Headers of proprietary text. */

// A header starts a line, after a comment marker, or starts a string in JSON.
const LINE = String.raw`(?<=^|["\x60]|\\n)[ \t]{0,16}(?:\/\/[/!]?|\/\*[*!]?|\*{1,3}|#{1,3}!?|--|;{1,3}|<!--|%{1,2}|'|REM|dnl|"""|>)?[ \t*]{0,8}`;
/** The end of the line or of the sentence. */
const LINE_END = String.raw`[ \t]{0,8}(?:[.!:*-]|\*\/|-->|\\n|"|$)`;

export const OPEN_LICENSE =
  /Permission is hereby granted|Permission to use, copy, modify|Licensed under (?:the )?(?:\w+ ){0,3}(?:Apache|MIT|BSD|ISC|MPL|GPL|LGPL|AGPL|EPL|CC|Mozilla|GNU|Unlicense|license found)|SPDX-License-Identifier: {0,4}\(?(?:MIT|Apache|BSD|ISC|MPL|GPL|LGPL|AGPL|EPL|CC|0BSD|Unlicense(?!d)|Zlib|BSL|Python|PSF|Artistic|BlueOak|WTFPL|CDDL|EUPL|OFL|Unicode)|Redistribution and use in source and binary forms|GNU (?:Lesser |Affero |Library )?General Public License|Mozilla Public License|(?:MIT|Apache|BSD|ISC|Artistic|zlib|Boost Software|PSF|Blue Oak)[ -](?:\d-clause |software |style |model |version |2\.0 )?licen[sc]e|licen[sc]e[d:"' ]{1,6}(?:under |is )?(?:the )?(?:MIT|Apache|BSD|ISC|MPL|GPL|0BSD)|released under (?:the )?(?:MIT|Apache|BSD|ISC|GPL)|free software|is free to use|same terms as perl|Licensed to PSF|Python Software Foundation|unicode\.org\/copyright|License & terms of use|public domain|Creative Commons/i;

const YEARS = String.raw`(?:(?:19|20)\d\d(?: ?[-–,] ?(?:(?:19|20)?\d\d|present|now)){0,6},?)`;
const NAME = String.raw`[ \t]{0,4}(?:by |, )?[\p{L}\p{N}"'<(@][^\n]{1,100}`;
const RESERVED = String.raw`[^\n]{1,120}?all rights reserved`;

export interface Header {
  id: string;
  what: string;
  keywords: readonly string[];
  anchor?: RegExp;
  pattern: string;
  /** `i` for phrases that ordinary prose never contains. */
  flags: string;
  /** Only as a heading: in lower case inside a file it means that a function is not part of the API. */
  isHeading?: true;
}

export const HEADERS: readonly Header[] = [
  {
    id: 'copyright',
    what: 'copyright line of another owner',
    keywords: ['copyright', '(c)', '&copy;'],
    anchor: /©/g,
    pattern: `${LINE}(?:Copyright(?:[ \\t]{0,3}(?:\\(c\\)|©|&copy;)(?:[ \\t]{0,3}${YEARS})?|:?[ \\t]{1,3}${YEARS}|(?=${RESERVED}))|(?:\\(c\\)|©|&copy;)[ \\t]{0,3}(?:Copyright )?[ \\t]{0,3}(?:${YEARS}|(?=${RESERVED})))${NAME}`,
    flags: 'gimu',
  },
  {
    id: 'spdx',
    what: 'SPDX identifier of a proprietary license',
    keywords: ['spdx-license-identifier'],
    pattern: String.raw`SPDX-License-Identifier:[ \t]{0,4}(?:LicenseRef-[\w.-]{0,40}(?:Proprietary|Commercial|Confidential|Closed|Internal|UNLICENSED)|UNLICENSED|Proprietary|NONE\b)`,
    flags: 'gi',
  },
  {
    id: 'confidential',
    what: 'confidentiality header',
    keywords: ['confidential', 'confidentiel', 'vertraulich'],
    pattern: `${LINE}(?:(?:strictly |company |highly |[\\w&.,]{2,20} ){0,3}(?:CONFIDENTIAL|Company Confidential|Strictly Confidential|STRENG VERTRAULICH|CONFIDENTIEL)(?: (?:and|&) PROPRIETARY| (?:INFORMATION|DOCUMENT|SOURCE CODE))?|(?:[Pp]roprietary|PROPRIETARY) (?:[Aa]nd|AND|&) (?:[Cc]onfidential|CONFIDENTIAL)|(?:[Cc]onfidential) (?:[Aa]nd|&) (?:[Pp]roprietary))${LINE_END}`,
    flags: 'gm',
  },
  {
    id: 'trade-secret',
    what: 'trade secret notice',
    keywords: ['trade secret'],
    pattern: String.raw`(?:(?:contains?|constitutes?|embod(?:y|ies)|comprises?|are|is|as|includes?) (?:(?:valuable|confidential|proprietary|and|the|a|an|unpublished|information|its),? ){0,5}trade secrets?(?: information)? (?:of|and|belonging|owned)|protected (?:by|as|under) (?:a )?trade secrets?(?: or | and |[ .,;])|${LINE}trade secrets?(?: of [^\n]{1,60})?${LINE_END})`,
    flags: 'gim',
  },
  {
    id: 'internal-use',
    what: 'notice of internal use',
    keywords: ['internal use only'],
    pattern: `${LINE}(?:[\\p{Lu}][\\w&.,]{1,20} ){0,3}(?:[-–—:/] ?)?(?:strictly |solely )?(?:for )?(?:company |corporate )?internal use only${LINE_END}`,
    flags: 'gimu',
    isHeading: true,
  },
  {
    id: 'prohibited',
    what: 'notice that copying is prohibited',
    keywords: ['prohibited', 'forbidden'],
    pattern: String.raw`(?:unauthori[sz]ed (?:copying|use|reproduction|duplication|disclosure|distribution|modification|access)[^\n.]{0,160}(?:\n[^\n.]{0,120}){0,2}(?:prohibited|forbidden)|(?:copying|reproduction|redistribution|distribution|dissemination|disclosure) of (?:this|the) (?:file|software|code|source code|program|document|material|information)[^\n.]{0,160}(?:\n[^\n.]{0,120}){0,2}(?:strictly )?(?:prohibited|forbidden))`,
    flags: 'gi',
  },
  {
    id: 'property',
    what: 'notice of ownership',
    keywords: ['propert'],
    pattern: String.raw`(?:th(?:is|e) (?:source code|source|software|code|file|program|document|material|module|work)(?: and [\w ]{1,30})? (?:is|are|remains?|contains?) (?:and (?:shall )?remains? )?(?:the )?(?:(?:confidential|proprietary|exclusive|sole|intellectual|unpublished|and|private),? ){0,4}propert(?:y|ies) of|licensed materials? ?[-–—] ?property of|(?:proprietary|confidential) (?:and \w{1,14} )?property of)`,
    flags: 'gi',
  },
  {
    id: 'no-distribution',
    what: 'notice not to distribute',
    keywords: ['do not', 'not for'],
    pattern: `${LINE}(?:do not (?:copy|share|reproduce)?(?:,? ?(?:or|and) )?(?:re)?distribut(?:e|ion)(?: (?:without|outside|externally|beyond)[^\\n]{1,80})?|not for (?:re)?distribution|do not copy)${LINE_END}`,
    flags: 'gim',
  },
];

/** Text that people may paste into notes: stack frames, log lines, JSON members, diff stats, lists, tables, prompts. */
export const NO_CODE =
  /^(?:at .{1,300}[:(]\d{1,6}|File "[^"]{1,200}", line \d|"[^"]{1,100}" ?: ?|\[?\d{4}-\d\d-\d\d[T ]|\[[\w .:-]{1,30}\] |[\w./{}=> -]{1,160} \| {1,8}(?:\d|Bin)|[-*+•] |\d{1,3}[.)] |\||[$#>] |(?:error|warn|info|debug|note|warning|npm|PASS|FAIL|✓|✗|×)\b)/i;
export const NEUTRAL = /^[{}()[\];,]{0,12}$/;
export const CODE: readonly RegExp[] = [
  /[;{]$|^\}[ )\]};,]{0,6}(?:else|catch|finally|while)?|=> ?[({[]?$|^\}\)/,
  /^(?:export|import|from|const|let|var|function|class|interface|enum|struct|public|private|protected|static|func|fn|pub|impl|use|package|namespace|template|typedef|async|await|def|using|module|extends|override|final|abstract|void|int|char|bool|float|double|string|type) [\w{*<"'(&:$@]{1,60}.{0,300}[({=;:>,'"]/,
  /^(?:import|package|use|using|from|require|include) [\w.:/"'*{}-]{1,80}(?: import .{1,200})?;?$/,
  /^(?:with|if|for|while|switch|except|elif|else if|catch|until|match|when|unless|foreach)\b ?(?:\(|.{1,200}(?::|then|do|\{)$)/,
  /^(?:else|try|finally|do|begin|end|fi|done|esac|then|pass|break|continue|return|default)\b ?[:;{]?$/,
  /^(?:return|throw|raise|yield|await|assert|case|goto|echo|elsif|except|with|defer|del|new) .{1,200}[\w)\]}"':,(]$/,
  /^[\w.$[\]'"*&>-]{1,60}(?::? [\w<>[\], |]{1,60})? ?(?::=|[-+*/|&%]?=|<-|\?=) ?[^=]/,
  /^[\w.$:>-]{1,80}(?:<[\w, ]{1,40}>)?\([^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,100}){0,4}\)?[,;){]{0,4}$/,
  /^(?:\/\/|\/\*|\*\/|#include|#define|#if|#endif|@\w{2,40}(?:\(|$)|#\[|<\/?\w{1,30}[ />])/,
  /^\.\w{1,40}\(|^\w{1,40}: [\w"'[{(].{0,160},$/,
];
