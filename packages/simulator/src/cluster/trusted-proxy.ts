/** The proxies that all servers of a run trust, and one of them. */
export const PROXY_RANGE = "10.9.0.0/16";
export const PROXY_ADDRESS = "10.9.0.1";
