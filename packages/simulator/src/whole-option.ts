/** The number of an option; any other text ends the process with one sentence. */
export function wholeOption(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
