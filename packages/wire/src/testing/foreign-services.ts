/** Other services: the first bytes that each sends, and whether it then waits or hangs up. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

export interface ForeignService {
  readonly name: string;
  /** Sent as soon as there is a connection. */
  readonly greeting: string | Buffer;
  /** How messages show it. */
  readonly shown: string;
  /** Whether it closes the connection behind its greeting. */
  readonly hangsUp: boolean;
}

export const FOREIGN_SERVICES: readonly ForeignService[] = [
  { name: "ssh", greeting: "SSH-2.0-OpenSSH_9.6\r\n", shown: '"SSH-2.0-OpenSSH_9.6"', hangsUp: false },
  { name: "smtp", greeting: "220 mail ESMTP\r\n", shown: '"220 mail ESMTP"', hangsUp: false },
  { name: "redis", greeting: "-ERR unknown command\r\n", shown: '"-ERR unknown command"', hangsUp: true },
  { name: "http", greeting: "HTTP/1.1 400 Bad Request\r\n\r\n", shown: '"HTTP/1.1 400 Bad Request"', hangsUp: true },
  { name: "imap", greeting: "* OK ready\r\n", shown: '"* OK ready"', hangsUp: false },
  { name: "nats", greeting: 'INFO {"a":1}\r\n', shown: '"INFO {\\"a\\":1}"', hangsUp: false },
  {
    name: "mysql",
    greeting: Buffer.from("4a0000000a382e302e333600", "hex"),
    shown: "12 bytes that are no text",
    hangsUp: false,
  },
  { name: "tls", greeting: Buffer.from("15030300020246", "hex"), shown: "a TLS record", hangsUp: true },
  { name: "a terminal", greeting: "\u001b[2Jhello\u202e\n", shown: "13 bytes that are no text", hangsUp: true },
  { name: "a long line", greeting: "x".repeat(5_000), shown: `"${"x".repeat(60)}…"`, hangsUp: true },
];

/** On a free port. @param atEnd registers a callback for the end of the test */
export async function startForeignService(
  { greeting, hangsUp }: ForeignService,
  atEnd: (end: () => void) => void,
): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {
      // The reader has hung up.
    });
    socket.resume();
    if (hangsUp) socket.end(greeting);
    else socket.write(greeting);
    atEnd(() => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
