/** What a command line printed, made comparable: whatever differs from run to run becomes `#`. */

/** Commands that our command line has beyond zkCli's; they stand in its usage. */
const OWN_COMMANDS = new Set(["help", "tree", "watch"]);

/** Undefined for a line that says nothing about the command. */
export function normaliseCliLine(line: string): string | undefined {
  // How zkCli edits lines, which it says at every start.
  if (line.startsWith("JLine support is ")) return undefined;
  if (line.startsWith("\t") && OWN_COMMANDS.has(line.trim().split(" ")[0] ?? "")) return undefined;
  return line
    .replace(/^([cm]time) = .*$/, (_, name: string) => `${name} = ${/ 1970$/.test(line) ? "never" : shapeOf(line)}`)
    .replace(/0x[0-9a-f]*[1-9a-f][0-9a-f]*/g, "0x#")
    .replace(/zxid: \d+/, "zxid: #")
    .replace(/^(ZooKeeper CLI version: ).*$/, "$1#")
    .replace(/(localhost|127\.0\.0\.1):\d+/g, "HOST:PORT");
}

/** A date is checked for its form, though not for its moment. */
function shapeOf(line: string): string {
  return / = [A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/.test(line) ? "#" : line;
}
