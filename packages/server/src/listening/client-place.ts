import type { Members, ServerId } from "@zooid/model";

const ANY_HOSTS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Where a configuration of the ensemble places this server's client port, also where zoo.cfg says
 * otherwise; undefined where it does not say.
 *
 * A line without a host of its own leaves the host to `clientPortAddress`, unless that address is
 * itself the host that this server's line in the files had: then the configuration has lifted it.
 *
 * @returns `host` undefined: all addresses
 */
export function clientPlaceOf(
  { servers }: Members,
  own: {
    readonly sid: ServerId | undefined;
    /** The `clientPortAddress`; `*` for all addresses. */
    readonly address: string;
    /** The host for clients in this server's line in the files. */
    readonly listedHost: string | undefined;
  },
): { readonly host: string | undefined; readonly port: number } | undefined {
  const place = servers.find(({ sid }) => sid === own.sid)?.clientAddress;
  if (place === undefined) return undefined;
  const isOpen = place.host === undefined || ANY_HOSTS.has(place.host);
  const isLimited = own.address !== "*" && own.address !== own.listedHost;
  const host = isOpen ? (isLimited ? own.address : undefined) : place.host;
  return { host, port: place.port };
}
