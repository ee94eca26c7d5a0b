import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The service's act on the next request, in place of its answer. */
export type Fault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly code?: string;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: "reset" }
  /** No answer, ever. */
  | { readonly kind: "silent" }
  /** Half of the answer. */
  | { readonly kind: "cut" }
  | { readonly kind: "body"; readonly body: string };

const PAGE = 3;

/**
 * An S3 service in this process, with one bucket, pages of three objects, and faults on demand. It
 * compares the sums of bodies and does not check signatures: that is for a real one.
 */
export class S3Service implements AsyncDisposable {
  readonly objects: Map<string, Buffer> = new Map();
  /** Taken one by one, from the front. */
  readonly faults: Fault[] = [];
  requestCount = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      void this.#serve(request, response);
    });
  }

  static async start(): Promise<S3Service> {
    const server = createServer();
    const service = new S3Service(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return service;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requestCount++;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const fault = this.faults.shift();
    switch (fault?.kind) {
      case "silent":
        return;
      case "reset":
        request.socket.destroy();
        return;
      case "status":
        response.writeHead(fault.status, fault.headers).end(errorText(fault.code ?? ""));
        return;
      case "body":
        response.writeHead(200).end(fault.body);
        return;
    }
    const url = new URL(request.url ?? "/", this.endpoint);
    const [, bucket, ...rest] = url.pathname.split("/");
    const key = decodeURIComponent(rest.join("/"));
    if (bucket !== "bucket") {
      response.writeHead(404).end(errorText("NoSuchBucket"));
    } else if (request.method === "PUT") {
      const isSame = request.headers["x-amz-content-sha256"] === createHash("sha256").update(body).digest("hex");
      if (isSame) this.objects.set(key, body);
      response.writeHead(isSame ? 200 : 400).end(isSame ? "" : errorText("XAmzContentSHA256Mismatch"));
    } else if (request.method === "DELETE") {
      this.objects.delete(key);
      response.writeHead(204).end();
    } else if (key === "") {
      response.writeHead(200).end(this.#listing(url.searchParams));
    } else {
      this.#get(key, request.headers.range, response, fault?.kind === "cut");
    }
  }

  #get(key: string, range: string | undefined, response: ServerResponse, isCut: boolean): void {
    const bytes = this.objects.get(key);
    if (bytes === undefined) {
      response.writeHead(404).end(errorText("NoSuchKey"));
      return;
    }
    const count = Number(/^bytes=-(\d+)$/.exec(range ?? "")?.[1] ?? bytes.length);
    const from = Math.max(0, bytes.length - count);
    const taken = bytes.subarray(from);
    response.writeHead(range === undefined ? 200 : 206, {
      "content-length": taken.length,
      ...(range === undefined ? {} : { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (!isCut) response.end(taken);
    else response.write(taken.subarray(0, taken.length / 2), () => response.destroy());
  }

  #listing(query: URLSearchParams): string {
    const after = query.get("continuation-token") ?? query.get("start-after") ?? "";
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
      .sort();
    const page = keys.slice(0, PAGE);
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.length}</Size></Contents>`,
    );
    const next =
      keys.length > PAGE
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1)}</NextContinuationToken>`
        : "<IsTruncated>false</IsTruncated>";
    return `<?xml version="1.0"?><ListBucketResult>${contents.join("")}${next}</ListBucketResult>`;
  }
}

function errorText(code: string): string {
  return code === "" ? "" : `<Error><Code>${code}</Code><Message>words of ${code}</Message></Error>`;
}
