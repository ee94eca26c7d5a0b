/** The versions in the line `Zookeeper version:` of a server's answer to `srvr`. */
export interface ServerVersion {
  /** ZooKeeper's version, whose protocol the server speaks, such as `3.9.5`. */
  readonly protocol: string;
  /** Zooid's own version; undefined for other servers. */
  readonly zooid?: string;
}

const FORM = /^([\d.]+)(?:-zooid-([^,\s]+))?/;

/**
 * @param text `3.9.5-zooid-0.1.0, built on …`, or `3.9.5-<commit>, built on …`; undefined for
 *   another text
 */
export function readServerVersion(text: string): ServerVersion | undefined {
  const [, protocol, zooid] = FORM.exec(text) ?? [];
  if (protocol === undefined) return undefined;
  return zooid === undefined ? { protocol } : { protocol, zooid };
}

/** For people: `zooid 0.1.0 (3.9.5)`, or `3.9.5`. */
export function serverVersionText({ protocol, zooid }: ServerVersion): string {
  return zooid === undefined ? protocol : `zooid ${zooid} (${protocol})`;
}
