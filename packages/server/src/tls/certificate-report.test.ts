import { beforeEach, expect, test } from "vitest";
import { CertificateReport } from "./certificate-report.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;
const END = Date.UTC(2030, 0, 31, 12) / 1000;

let lines: string[];
let report: CertificateReport;
beforeEach(() => {
  lines = [];
  report = new CertificateReport((text, { event }) => lines.push(`${event}: ${text}`));
});

const check = (nowSeconds: number, notAfter: number | undefined = END): void =>
  report.check([{ shownTo: "clients", notAfter }], nowSeconds);

test("one that is good for thirty days or more, or whose end is not known, is no warning", () => {
  check(END - 30 * DAY);
  report.check([{ shownTo: "peers", notAfter: undefined }], END);
  expect(lines).toEqual([]);
});

test("from thirty days on it is one warning a day, and one at once when seven and one are left and when it has expired", () => {
  for (let now = END - 31 * DAY; now <= END + 2 * DAY; now += HOUR) check(now);
  const said = (days: string): string =>
    `certificate-expires: the certificate that clients see expires at 2030-01-31 12:00 UTC, ${days}`;
  expect(lines.slice(0, 2)).toEqual([said("in 29 days"), said("in 28 days")]);
  expect(lines.filter((line) => line.includes("in 1 day"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("in less than a day"))).toHaveLength(1);
  expect(lines.slice(-2)).toEqual(Array(2).fill(expect.stringContaining("expired at 2030-01-31 12:00 UTC")));
  expect(lines).toHaveLength(32);
});

test("a start with an expired one is a warning", () => {
  check(END + 1);
  expect(lines).toEqual([expect.stringContaining("expired at")]);
});

test("one that took its place is judged by its own end", () => {
  check(END - 5 * DAY);
  check(END - 5 * DAY, END + 300 * DAY);
  check(END - 5 * DAY + HOUR, END + 2 * DAY);
  expect(lines).toHaveLength(2);
});

test("certificates for clients and for peers are reported apart", () => {
  const both = (["clients", "peers"] as const).map((shownTo) => ({ shownTo, notAfter: END }));
  report.check(both, END - DAY - HOUR);
  report.check(both, END - DAY - HOUR + 60);
  expect(lines).toEqual([expect.stringContaining("that clients see"), expect.stringContaining("that peers see")]);
});
