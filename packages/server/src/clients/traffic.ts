/** Traffic of the client port, counted at little cost: per chunk, per write and per connection. */
export class Traffic {
  bytesReceived = 0;
  bytesSent = 0;
  /** The part of them that is notifications of watches. */
  watchBytes = 0;
  /** First frames of connections, and those of them that resume a session. */
  connectRequests = 0;
  revalidations = 0;
  /** Connections that ended before their session did. */
  drops = 0;
  /** Connections that were closed without a connect request in time. */
  sessionlessExpired = 0;

  reset(): void {
    Object.assign(this, new Traffic());
  }
}
