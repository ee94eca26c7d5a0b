import { isIPv6 } from "node:net";
import {
  ArgumentError,
  checkPath,
  checkRecord,
  found,
  hostPort,
  misfit,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
} from "@zooid/model";

export interface HostAddress {
  /** A name, or an IPv4 or IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The name that the address was resolved from, which the server's certificate must match. */
  readonly name?: string;
  /** Whether `host` is the name of SRV records, which give servers and ports. */
  readonly isService?: true;
}

export interface ConnectString {
  readonly hosts: readonly HostAddress[];
  /** The root of all paths; `/` for none. */
  readonly chroot: string;
}

const ADDRESS: Shape<HostAddress> = shape<HostAddress>({
  host: rules.text,
  port: wholeNumberRule(0, 65535),
  name: rules.text,
  isService: rules.flag,
});
const DEFAULT_PORT = 2181;
const SERVICE_PREFIX = "dns-srv://";

/**
 * Parses `host:port,host:port/chroot` with optional ports and chroot, as every ZooKeeper client
 * does. An IPv6 address has brackets: without them an address cannot be told from one with a port.
 * Blanks around a host are left out; empty hosts are refused. Or `dns-srv://name/chroot`, as Java's
 * clients from 3.10 on do: the servers are the SRV records of that name.
 *
 * @param needsHost whether a chroot alone is invalid
 * @throws ArgumentError with all problems
 */
export function parseConnectString(text: string, needsHost = true): ConnectString {
  if (typeof text !== "string") throw new ArgumentError("connect", [misfit("a connect string", text, rules.text)]);
  if (text.startsWith(SERVICE_PREFIX)) return parseService(text);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[0];
  if (scheme !== undefined) {
    const rest = JSON.stringify(text.slice(scheme.length));
    throw invalid("host:port,host:port/chroot", text, [`${scheme} is not part of it; give ${rest}`]);
  }
  const repeated = repeatedChroot(text);
  if (repeated !== undefined) {
    throw invalid("host:port,host:port/chroot", text, [
      `the chroot stands once, behind the last host; give ${JSON.stringify(repeated)}`,
    ]);
  }
  const slash = text.indexOf("/");
  const list = slash === -1 ? text : text.slice(0, slash);
  const faults: string[] = [];
  const hosts: HostAddress[] = [];
  const parts = list.split(",").map((one) => one.trim());
  for (const [at, part] of parts.entries()) {
    if (part === "" && parts.length === 1) continue;
    const host = part === "" ? `host ${at + 1} of ${parts.length} is empty: a comma too many` : parseHost(part);
    if (typeof host === "string") faults.push(host);
    else hosts.push(host);
  }
  if (needsHost && hosts.length === 0 && faults.length === 0) faults.push("it names no host");
  const chroot = slash === -1 ? "/" : text.slice(slash).trim();
  faults.push(...chrootFaults(chroot));
  if (faults.length > 0) throw invalid("host:port,host:port/chroot", text, faults);
  return { hosts, chroot };
}

/** The connect string that is meant where each host has the chroot: `a:1/app,b:1/app`. */
function repeatedChroot(text: string): string | undefined {
  const parts = text.split(",").map((part) => part.trim());
  const slash = parts[0]?.indexOf("/") ?? -1;
  const chroot = slash === -1 ? "" : (parts[0]?.slice(slash) ?? "");
  if (parts.length < 2 || chroot === "") return undefined;
  // A comma may be part of a chroot: every part must be a host with the same chroot.
  const hosts = parts.map((part) => (part.endsWith(chroot) ? part.slice(0, -chroot.length) : ""));
  if (!hosts.every((host) => host !== "" && !host.includes("/"))) return undefined;
  return `${hosts.join(",")}${withoutEnd(chroot, "/")}`;
}

function parseService(text: string): ConnectString {
  const [, host = "", path = ""] = /^([^/]*)(.*)$/s.exec(text.slice(SERVICE_PREFIX.length)) ?? [];
  const chroot = path === "" ? "/" : path.trim();
  const faults = chrootFaults(chroot);
  if (!/^[\w-]+(\.[\w-]+)*\.?$/.test(host)) faults.unshift(`${JSON.stringify(host)} is no name of a service`);
  if (faults.length === 0) return { hosts: [{ host, port: 0, isService: true }], chroot };
  throw invalid(`${SERVICE_PREFIX}name/chroot`, text, faults);
}

function invalid(form: string, text: string, faults: readonly string[]): ArgumentError {
  return new ArgumentError(`a connect string is ${form}; in ${JSON.stringify(text)}`, faults);
}

function chrootFaults(chroot: string): string[] {
  const fault = faultOf(chroot);
  if (fault === undefined) return [];
  const bare = withoutEnd(chroot, "/");
  const isFixed = bare !== chroot && faultOf(bare) === undefined;
  return [isFixed ? `the chroot ends in /; give ${JSON.stringify(bare)}` : fault];
}

function faultOf(chroot: string): string | undefined {
  try {
    checkPath(chroot);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * As `host:port`, with brackets around an IPv6 address. @throws ArgumentError for what is no
 * address
 */
export function formatAddress(address: HostAddress): string {
  checkRecord("formatAddress", address, ADDRESS, ["host", "port"]);
  return addressText(address);
}

/** The same for addresses of any form: a provider of hosts may give others. */
export function addressText({ host, port, isService }: HostAddress): string {
  return isService === true ? `${SERVICE_PREFIX}${host}` : hostPort(host, port);
}

/** The host, or a description of the problem. */
function parseHost(text: string): HostAddress | string {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  if (bracketed !== null) {
    const [, address = "", port] = bracketed;
    return isIPv6(address) ? withPort(text, address, port) : `${found(address)} in ${found(text)} is no IPv6 address`;
  }
  if (text.split(":").length > 2) return bareAddressFault(text);
  const [host = "", port] = text.split(":");
  if (host === "") return `${found(text)} has no host`;
  const wrong = NO_NAME.exec(host)?.[0];
  if (wrong !== undefined) return `the host of ${found(text)} has ${found(wrong)}; hosts are separated by commas`;
  if (host.length > NAME_CHARS_MAX) return `the host ${found(host)} has more than ${NAME_CHARS_MAX} characters`;
  return withPort(text, host, port);
}

/** Characters that no name of a host has. Names of other scripts than Latin are names. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for them
const NO_NAME = /[\s\u0000-\u002c\u003b-\u0040\u005b-\u005e`{|}~\u007f-\u009f\u200b-\u200f\u2028-\u202e]/;
const NAME_CHARS_MAX = 255;

/** Whether the last group of digits is a port cannot be seen. */
function bareAddressFault(text: string): string {
  const colon = text.lastIndexOf(":");
  const [before, last] = [text.slice(0, colon), text.slice(colon + 1)];
  const forms = [
    ...(isIPv6(before) && portOf(last) !== undefined ? [`[${before}]:${last}`] : []),
    ...(isIPv6(text) ? [`[${text}]:${DEFAULT_PORT}`] : []),
  ];
  if (forms.length === 0) return `${found(text)} is no host and port: an IPv6 address is written [address]:port`;
  return `an IPv6 address has brackets: ${found(text)} is written ${forms.join(" or ")}`;
}

function withPort(text: string, host: string, port: string | undefined): HostAddress | string {
  if (port === undefined) return { host, port: DEFAULT_PORT };
  const number = portOf(port);
  if (number === undefined) return `the port of ${found(text)} is not between 1 and 65535`;
  return { host, port: number };
}

function portOf(text: string): number | undefined {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined;
}

/** Without the last characters that are this one. */
function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
