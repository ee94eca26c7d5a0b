/** The parts of the text behind `server.N=`. */
export interface ServerLine {
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly isObserver: boolean;
  readonly clientAddress: { readonly host?: string; readonly port: number } | undefined;
  /** Addresses behind the first, which are not used. */
  readonly otherAddressCount: number;
}

const PORT_MAX = 65_535;

const FORM = "host:quorumPort:electionPort[:participant|observer][;[clientHost:]clientPort]";

/** Reads it in ZooKeeper's syntax, IPv6 addresses in brackets; a text says what is wrong. */
export function parseServerLine(value: string): ServerLine | string {
  const [peers = "", client, ...rest] = value.split(";");
  if (rest.length > 0) return `is of the form ${FORM}, found a second ";"`;
  const addresses = peers.split("|");
  const [first = ""] = addresses;
  const parts = splitHost(first.trim());
  if (parts === undefined) return `is of the form ${FORM}, found "${value}"`;
  const [quorumPort, electionPort, role = "participant", ...more] = parts.rest;
  // With several addresses the role stands behind the last one.
  const lastRole = addresses.length > 1 ? splitHost(addresses.at(-1)?.trim() ?? "")?.rest[2] : undefined;
  const roleName = (lastRole ?? role).toLowerCase();
  if (!isPort(quorumPort) || !isPort(electionPort) || more.length > 0)
    return `is of the form ${FORM}, found "${value}"`;
  if (roleName !== "participant" && roleName !== "observer") {
    return `names a participant or an observer, found "${lastRole ?? role}"`;
  }
  // As with Java's split, nothing behind the ";" is no client part.
  const hasClient = client !== undefined && client.trim() !== "";
  const clientAddress = hasClient ? parseClientAddress(client.trim()) : undefined;
  if (hasClient && clientAddress === undefined) {
    return `has a client port, or a client address and port, behind its ";", found "${client}"`;
  }
  return {
    host: parts.host,
    quorumPort: Number(quorumPort),
    electionPort: Number(electionPort),
    isObserver: roleName === "observer",
    clientAddress,
    otherAddressCount: addresses.length - 1,
  };
}

function parseClientAddress(text: string): ServerLine["clientAddress"] {
  if (isPort(text)) return { port: Number(text) };
  const parts = splitHost(text);
  const [port] = parts?.rest ?? [];
  return parts !== undefined && parts.rest.length === 1 && isPort(port)
    ? { host: parts.host, port: Number(port) }
    : undefined;
}

/** The host, without its brackets, and what stands behind it between colons. */
function splitHost(text: string): { readonly host: string; readonly rest: readonly string[] } | undefined {
  const match = /^(?:\[([^\]]+)\]|([^[\]:]+)):(.+)$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host === undefined
    ? undefined
    : { host: host.trim(), rest: (match?.[3] ?? "").split(":").map((part) => part.trim()) };
}

function isPort(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= PORT_MAX;
}
