/**
 * Where this machine asks a server that listens on an address: one that listens on every address is
 * asked on the loopback.
 */
export function askedHost(address: string | undefined): string {
  return address === undefined || ["*", "0.0.0.0", "::"].includes(address) ? "127.0.0.1" : address;
}
