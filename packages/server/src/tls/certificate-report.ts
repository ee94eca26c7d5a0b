import type { LogFields } from "../operators/log-fields.ts";

const DAY_SECONDS = 86_400;
/** A certificate that was replaced, or passes a limit, is noticed within the hour. */
const CHECK_MS = 3_600_000;

/**
 * A certificate is reported once a day from 30 days before its end on, and at once when 7 days or 1
 * day are left.
 */
const REPORTED_DAYS = [30, 7, 1] as const;

/** A certificate of this server. */
export interface OwnCertificate {
  readonly shownTo: "clients" | "peers" | "operators";
  /** In seconds since 1970; undefined where it is not known. */
  readonly notAfter: number | undefined;
}

/**
 * Warns of this server's certificates that have expired or will soon: at the start, then once a
 * day, and as soon as 30, 7 or 1 days are left. A new certificate is judged by its own end.
 */
export class CertificateReport {
  readonly #warn: (text: string, fields: LogFields) => void;
  /** The reports of the certificate with this end, by the side that sees it. */
  readonly #reported = new Map<
    string,
    { readonly notAfter: number; readonly stage: number; readonly seconds: number }
  >();

  #timer: NodeJS.Timeout | undefined;

  constructor(warn: (text: string, fields: LogFields) => void) {
    this.#warn = warn;
  }

  /** Checks now, then every hour, until {@link stop}. */
  watch(certificates: () => readonly OwnCertificate[]): void {
    const check = (): void => this.check(certificates(), Date.now() / 1000);
    check();
    this.#timer = setInterval(check, CHECK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  check(certificates: readonly OwnCertificate[], nowSeconds: number): void {
    for (const { shownTo, notAfter } of certificates) {
      if (notAfter === undefined) continue;
      const stage = stageOf(notAfter - nowSeconds);
      if (stage === 0) continue;
      const before = this.#reported.get(shownTo);
      const isKnown = before?.notAfter === notAfter && before.stage === stage;
      if (isKnown && nowSeconds - before.seconds < DAY_SECONDS) continue;
      this.#reported.set(shownTo, { notAfter, stage, seconds: nowSeconds });
      this.#warn(textOf(shownTo, notAfter, nowSeconds), { event: "certificate-expires" });
    }
  }
}

/** 0 for one that is good for long, more the nearer its end is. */
function stageOf(leftSeconds: number): number {
  return REPORTED_DAYS.filter((days) => leftSeconds < days * DAY_SECONDS).length + (leftSeconds < 0 ? 1 : 0);
}

function textOf(shownTo: OwnCertificate["shownTo"], notAfter: number, nowSeconds: number): string {
  const date = new Date(notAfter * 1000).toISOString().slice(0, 16).replace("T", " ");
  const days = Math.floor((notAfter - nowSeconds) / DAY_SECONDS);
  const subject = `the certificate that ${shownTo} see`;
  if (notAfter < nowSeconds)
    return `${subject} expired at ${date} UTC: renew it, its files are read again by themselves or at SIGHUP`;
  const left = days === 0 ? "in less than a day" : days === 1 ? "in 1 day" : `in ${days} days`;
  return `${subject} expires at ${date} UTC, ${left}`;
}
