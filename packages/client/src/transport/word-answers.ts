/**
 * The forms of the answers to four-letter words, by which those of other services are recognised:
 * services that greet first, such as SSH and SMTP, would else be taken for servers.
 */

/** Answers to every word, of servers that do not carry it out. */
const REFUSALS = /^(\S+ is not executed because |This ZooKeeper instance is not currently serving)/;

/**
 * The first line of each word's answer, in the forms of Apache's servers, of Zooid's, and of others
 * that speak the protocol. The listings may have none.
 */
const FIRST_LINES: ReadonlyMap<string, RegExp> = new Map([
  ["conf", /^[\w.]+=/],
  ["cons", /^ ?\/?\S+\(|^$/],
  ["crst", /\breset\b/],
  ["dirs", /^\w+: ?\d/],
  ["dump", /\b[Ss]ession/],
  ["envi", /^Environment:/],
  ["gtmk", /^-?\d+$/],
  ["isro", /^(r[ow]|null)$/],
  ["mntr", /^zk_\w+\t/],
  ["ruok", /^imok$/],
  ["srst", /\breset\b/],
  ["srvr", /^[\w ]*\bversion: /],
  ["stat", /^[\w ]*\bversion: /],
  ["stmk", /^-?\d+$/],
  ["wchc", /^0x|^$/],
  ["wchp", /^\/|^$/],
  ["wchs", /^\d+ connections? watching /],
]);

/** First lines of other protocols, for words whose answers have any form. */
const GREETINGS = /^(SSH-|HTTP\/|RTSP\/|RFB |AMQP|INFO \{|ERROR\b|[+-](OK|ERR|PONG)\b|\* (OK|BYE|PREAUTH)\b|\d{3}[ -])/;

/** Words are answered in text with lines and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for them
const NO_TEXT = /[\u0000-\u0008\u000e-\u001f\ufffd]/;

/** Longer than the first line of any answer, apart from listings. */
const LINE_CHARS_MAX = 512;

/**
 * Whether the beginning of an answer can be one to the word; undefined while that is open.
 *
 * @param isWhole whether nothing follows
 */
export function canAnswer(word: string, text: string, isWhole: boolean): boolean | undefined {
  if (NO_TEXT.test(isWhole ? text : text.slice(0, LINE_CHARS_MAX))) return false;
  const end = text.indexOf("\n");
  if (end < 0 && !isWhole && text.length < LINE_CHARS_MAX) return undefined;
  // The first character is sufficient for the longest listings.
  const line = (end < 0 ? text : text.slice(0, end)).slice(0, LINE_CHARS_MAX);
  const known = FIRST_LINES.get(word);
  const first = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (REFUSALS.test(first)) return true;
  if (known !== undefined) return known.test(first);
  // Servers end lines with the line feed of their system; protocols of lines, with both.
  return !line.endsWith("\r") && !GREETINGS.test(first);
}
