/** What crosses the client port, counted where it is at hand anyway: per chunk, per write and per connection. */
export class Traffic {
  bytesReceived = 0;
  bytesSent = 0;
  /** Of those, what notifications of watches took. */
  watchBytes = 0;
  /** First frames of connections, and those among them that name a session. */
  connectRequests = 0;
  revalidations = 0;
  /** Connections that ended without the end of their session. */
  drops = 0;
  /** Connections that were closed since no connect request came. */
  sessionlessExpired = 0;

  reset(): void {
    Object.assign(this, new Traffic());
  }
}
