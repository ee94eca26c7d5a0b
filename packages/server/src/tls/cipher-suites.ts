const KEY_EXCHANGES: ReadonlyMap<string, string> = new Map([
  ["ECDHE_ECDSA", "ECDHE-ECDSA-"],
  ["ECDHE_RSA", "ECDHE-RSA-"],
  ["DHE_RSA", "DHE-RSA-"],
  ["RSA", ""],
]);
const CIPHERS: ReadonlyMap<string, string> = new Map([
  ["AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
  ["AES_256_GCM_SHA384", "AES256-GCM-SHA384"],
  ["CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"],
  ["AES_128_CBC_SHA", "AES128-SHA"],
  ["AES_256_CBC_SHA", "AES256-SHA"],
  ["AES_128_CBC_SHA256", "AES128-SHA256"],
  ["AES_256_CBC_SHA256", "AES256-SHA256"],
  ["AES_256_CBC_SHA384", "AES256-SHA384"],
]);
/** Names of TLS 1.3 suites contain no key exchange, and are the same everywhere. */
const NEWEST = /^TLS_(?:AES_128_GCM_SHA256|AES_256_GCM_SHA384|CHACHA20_POLY1305_SHA256)$/;

/**
 * The platform's name of a cipher suite that Java names; undefined for one that is unknown, or too
 * weak.
 */
export function opensslCipher(javaName: string): string | undefined {
  if (NEWEST.test(javaName)) return javaName;
  const [exchange = "", cipher = "", ...more] = javaName.split("_WITH_");
  const prefix = exchange.startsWith("TLS_") ? KEY_EXCHANGES.get(exchange.slice("TLS_".length)) : undefined;
  const suffix = more.length === 0 ? CIPHERS.get(cipher) : undefined;
  return prefix === undefined || suffix === undefined ? undefined : `${prefix}${suffix}`;
}
