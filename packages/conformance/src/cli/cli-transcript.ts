/** The output of a command line, normalized: values that differ between runs become `#`. */

/** Additional commands of our command line; they are listed in its usage. */
const OWN_COMMANDS = new Set(
  "4lw completion cp diff discover du edit elect find grep help leader lock member queue server status tree watch".split(
    " ",
  ),
);

/** Undefined for a line that is not about the command. */
export function normaliseCliLine(line: string): string | undefined {
  // zkCli's line editing, printed at every start.
  if (line.startsWith("JLine support is ")) return undefined;
  if (line.startsWith("\t") && OWN_COMMANDS.has(line.trim().split(" ")[0] ?? "")) return undefined;
  return (
    line
      .replace(/^([cm]time) = (.*)$/, (_, name: string, date: string) => `${name} = ${shapeOf(date)}`)
      // Ours names what was probably meant.
      .replace(/; the nearest is \S+$/, "")
      .replace(/0x[0-9a-f]*[1-9a-f][0-9a-f]*/g, "0x#")
      .replace(/zxid: \d+/, "zxid: #")
      .replace(/^(ZooKeeper CLI version: ).*$/, "$1#")
      .replace(/(localhost|127\.0\.0\.1):\d+/g, "HOST:PORT")
  );
}

/** A date is checked for its format only, except that the epoch is the same everywhere. */
function shapeOf(date: string): string {
  if (date === "Thu Jan 01 00:00:00 UTC 1970") return "never";
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/.test(date) ? "#" : date;
}
