/** Keys whose values are secret. */
const SECRET_KEY = /passw|secret|superdigest|credential|token|private/i;
/** A setting, or a commented-out one. */
const SETTING = /^([\s#!]*[^\s=:#!][^=:\s]*(?:\s*[=:]\s*|\s+))(\S.*)$/s;

/** The text of a configuration file without its secrets: the names of secret settings stay. */
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
