const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const STEP = 1024;

/** `512 bytes`, `1.5 GiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= STEP && at < UNITS.length - 1) {
    value /= STEP;
    at++;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${UNITS[at]}`;
}

/** `4 %`, `0.3 %`. */
export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent < 1 ? percent.toFixed(1) : Math.round(percent)} %`;
}
