import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Asks for a path exactly as it is given. For tests; not part of the package. */
export async function ask(
  port: number | undefined,
  path: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<HttpReply> {
  const sent = request({ port, host: "127.0.0.1", path, method, headers, agent: false });
  sent.end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, body: text };
}

/** The received bytes, until the other side closes; for requests that need not be HTTP. */
export async function say(port: number | undefined, ...parts: readonly string[]): Promise<string> {
  const socket = connect({ port: port ?? 0, host: "127.0.0.1", noDelay: true });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => {
    // A reset is one way to refuse.
  });
  socket.on("close", () => close());
  for (const part of parts) socket.write(part, "latin1");
  await closed;
  return text;
}
