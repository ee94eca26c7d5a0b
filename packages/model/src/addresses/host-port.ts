/** `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The two ends of a socket. */
export interface SocketEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * Whether a TCP connection leads to itself: the system may choose the port that is dialed as the
 * connection's own, if no server listens on it. It then receives what it sends, and keeps the
 * server from binding its port.
 */
export function isConnectedToItself({ localAddress, localPort, remoteAddress, remotePort }: SocketEnds): boolean {
  return localPort !== undefined && localPort === remotePort && localAddress === remoteAddress;
}
