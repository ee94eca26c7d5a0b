/** A member's disks and certificates, from its answer to the four-letter word `mntr`. */
import type { MemberStorageJson } from "../api/shapes.ts";

const CERTIFICATE = /^(\w+)_zooid_tls_certificate_not_after_seconds$/;

/** Undefined for the answer of another server: the metrics are Zooid's. */
export function parseStorage(text: string): MemberStorageJson | undefined {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [name = "", value, ...more] = line.trim().split(/\s+/);
    if (name.startsWith("zk_") && value !== undefined && more.length === 0) values.set(name.slice("zk_".length), value);
  }
  const low = values.get("zooid_disk_low");
  if (low === undefined) return undefined;
  const certificates = [...values].flatMap(([name, value]) => {
    const use = CERTIFICATE.exec(name)?.[1];
    // A certificate that the server cannot read has no time.
    return use === undefined || !/^\d+$/.test(value) ? [] : [{ use, expiresAt: String(Number(value) * 1000) }];
  });
  return {
    dataFreeBytes: values.get("data_zooid_disk_free_bytes") ?? null,
    logFreeBytes: values.get("log_zooid_disk_free_bytes") ?? null,
    room: values.get("zooid_disk_full") === "1" ? "full" : low === "1" ? "low" : "enough",
    certificates,
  };
}
