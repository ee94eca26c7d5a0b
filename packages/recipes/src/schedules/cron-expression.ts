/**
 * Cron expressions of five fields, in UTC: minute, hour, day of the month, month, day of the week.
 * Each is `*`, a number, a range `1-5`, a step of either (`*` or `1-31` followed by `/2`), or
 * several of these with commas; months and days of the week also by their first three letters,
 * Sunday as 0 or 7. Where both days are restricted, either is enough, as cron has it.
 */
import { ArgumentError } from "@zooid/model";

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Words for `least` and the numbers that follow. */
  readonly words: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const MINUTE: Field = { name: "minute", least: 0, most: 59, words: [] };
const HOUR: Field = { name: "hour", least: 0, most: 23, words: [] };
const DAY: Field = { name: "day of the month", least: 1, most: 31, words: [] };
const MONTH: Field = { name: "month", least: 1, most: 12, words: MONTHS };
const WEEKDAY: Field = { name: "day of the week", least: 0, most: 7, words: DAYS };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Every date occurs within eight years: a leap year may be left out at a century. */
const SEARCH_MS = 9 * 366 * DAY_MS;

/**
 * @returns a function from a time to the first time after it, both in milliseconds since 1970
 * @throws ArgumentError with every problem; an expression that never occurs is one
 */
export function cronTimes(expression: string): (afterMs: number) => number {
  const texts = expression
    .trim()
    .split(/\s/)
    .filter((text) => text !== "");
  if (texts.length !== 5) {
    throw new ArgumentError("Cron", [`${JSON.stringify(expression)} has 5 fields, found ${texts.length}`]);
  }
  const problems: string[] = [];
  const read = (field: Field, i: number): ReadonlySet<number> => {
    const numbers = numbersOf(texts[i] ?? "", field);
    if (numbers !== undefined) return numbers;
    const { name, least, most } = field;
    problems.push(`the ${name} ${JSON.stringify(texts[i])} is not of numbers from ${least} to ${most}`);
    return new Set();
  };
  const [minutes, hours, days, months] = [read(MINUTE, 0), read(HOUR, 1), read(DAY, 2), read(MONTH, 3)];
  const given = read(WEEKDAY, 4);
  if (problems.length > 0) throw new ArgumentError("Cron", problems);
  const weekdays = new Set([...given].map((day) => day % 7));
  const isEither = texts[2] !== "*" && texts[4] !== "*";
  const isDay = (date: Date): boolean => {
    const [isDate, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
    return isEither ? isDate || isWeekday : isDate && isWeekday;
  };
  const next = (afterMs: number): number => {
    let atMs = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
    const endMs = atMs + SEARCH_MS;
    while (atMs < endMs) {
      const date = new Date(atMs);
      if (!months.has(date.getUTCMonth() + 1)) atMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
      else if (!isDay(date)) atMs = (Math.floor(atMs / DAY_MS) + 1) * DAY_MS;
      else if (!hours.has(date.getUTCHours())) atMs = (Math.floor(atMs / HOUR_MS) + 1) * HOUR_MS;
      else if (!minutes.has(date.getUTCMinutes())) atMs += MINUTE_MS;
      else return atMs;
    }
    return Number.POSITIVE_INFINITY;
  };
  if (next(0) === Number.POSITIVE_INFINITY)
    throw new ArgumentError("Cron", [`${JSON.stringify(expression)} never occurs`]);
  return next;
}

function numbersOf(text: string, field: Field): ReadonlySet<number> | undefined {
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const [range = "", step = "1", ...more] = part.split("/");
    const every = wholeNumber(step);
    const [from, to] = range === "*" ? [field.least, field.most] : endsOf(range, field, part.includes("/"));
    if (more.length > 0 || every === undefined || every === 0 || from === undefined || to === undefined)
      return undefined;
    if (from > to || from < field.least || to > field.most) return undefined;
    for (let number = from; number <= to; number += every) numbers.add(number);
  }
  return numbers;
}

/** A single number with a step begins there and has no end. */
function endsOf(range: string, field: Field, hasStep: boolean): readonly (number | undefined)[] {
  const ends = range.split("-");
  if (ends.length > 2) return [];
  const [from, to] = ends.map((end) => numberOf(end, field));
  if (ends.length === 2) return [from, to];
  return [from, hasStep ? field.most : from];
}

function numberOf(text: string, { words, least }: Field): number | undefined {
  const word = words.indexOf(text.toLowerCase());
  return word === -1 ? wholeNumber(text) : word + least;
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}
