/** Stack frames, log lines, JSON members, diff stats, lists, tables, prompts: what people rightly paste into notes. */
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
