const KIB = 1024;

export function formatBytes(bytes: number): string {
  if (bytes >= KIB * KIB && bytes % (KIB * KIB) === 0) return `${bytes / (KIB * KIB)} MiB`;
  if (bytes >= KIB && bytes % KIB === 0) return `${bytes / KIB} KiB`;
  return `${bytes} B`;
}

const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
const integers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Four digits are more than a measurement holds; whole numbers from a thousand on are grouped. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1000 ? integers.format(value) : numbers.format(value);
}

export function formatPercent(share: number): string {
  return `${numbers.format(Math.round(share * 1000) / 10)} %`;
}

/** `1:05` for 65 seconds. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
