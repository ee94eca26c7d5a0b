import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tarball } from "./tarball.ts";

export interface TarballRegistry extends AsyncDisposable {
  readonly url: string;
}

/**
 * An npm registry on loopback that has nothing but some tarballs. So packages are installed as they
 * will be once they are published: by name and version, each bringing what its own package.json
 * declares and nothing else.
 */
export async function serveTarballs(tarballs: readonly Tarball[]): Promise<TarballRegistry> {
  const byName = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const wanted = byName.get(path.replace(/\.tgz$/, ""));
    if (wanted === undefined) {
      response.writeHead(404).end();
    } else if (path.endsWith(".tgz")) {
      createReadStream(wanted.file).pipe(response);
    } else {
      const { manifest, integrity } = wanted;
      const dist = { tarball: `${url}/${manifest.name}.tgz`, integrity };
      const versions = { [manifest.version]: { ...manifest, dist } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
