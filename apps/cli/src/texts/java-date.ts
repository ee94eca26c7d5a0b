/**
 * A moment as Java prints it, `Thu Jan 01 00:00:00 UTC 1970`, in a time zone.
 *
 * @param timeZone an IANA name; default: the process's own
 */
export function formatJavaDate(timeMs: number, timeZone: string = ownTimeZone()): string {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(timeMs)
      .map(({ type, value }) => [type, value]),
  );
  const at = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  const time = `${at("hour")}:${at("minute")}:${at("second")}`;
  return `${at("weekday")} ${at("month")} ${at("day")} ${time} ${zoneName(timeMs, timeZone)} ${at("year")}`;
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    weekday: "short",
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    year: "numeric",
  });
  formats.set(timeZone, format);
  return format;
}

/**
 * Where a zone's letters are in daily use; each locale knows only its own region's, and says
 * `GMT+1` for the rest.
 */
const LOCALES = ["en-US", "en-GB", "en-AU", "en-IN", "en-NZ", "en-ZA", "ja-JP"];

/** Its letters in that season, `CET` or `PDT`; the offset where no locale has any. */
function zoneName(timeMs: number, timeZone: string): string {
  const names = LOCALES.map((locale) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" });
    return format.formatToParts(timeMs).find(({ type }) => type === "timeZoneName")?.value ?? "UTC";
  });
  return names.find((name) => !/[-+−]/.test(name)) ?? names[0] ?? "UTC";
}
