/** Keys whose values are nobody's business. */
const SECRET_KEY = /passw|secret|superdigest|credential|token|private/i;
/** A setting, or one in a comment. */
const SETTING = /^([\s#!]*[^\s=:#!][^=:\s]*\s*[=:\s]\s*)(\S.*)$/;

/** The text of a configuration file without its secrets: of such a setting the name stays. */
export function redacted(text: string): string {
  let isContinued = false;
  const lines = text.split("\n").map((line) => {
    const isSecret = isContinued || SECRET_KEY.test(SETTING.exec(line)?.[1] ?? "");
    const shown = isSecret ? hidden(line, isContinued) : line;
    isContinued = isSecret && /(^|[^\\])(\\\\)*\\\r?$/.test(line);
    return shown;
  });
  return lines.join("\n");
}

function hidden(line: string, isContinuation: boolean): string {
  return isContinuation ? "***" : line.replace(SETTING, "$1***");
}
