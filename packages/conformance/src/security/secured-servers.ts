import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@zooid/wire/testing/free-ports";
import { type EndpointKind, startEndpoint } from "../servers/endpoint.ts";
import { writeSecuredMaterial } from "./secured-material.ts";

/**
 * Where a scenario of TLS and SASL finds its servers, each as HOST:PORT, and the files that {@link
 * writeSecuredMaterial} wrote.
 */
export interface SecuredPlaces {
  /** A server's plain port; SASL is offered. */
  readonly plain: string;
  /** The same server's TLS port, which asks for certificates. */
  readonly tls: string;
  /**
   * Another server's port, which accepts plain connections and TLS, requests certificates, and
   * requires SASL.
   */
  readonly strict: string;
  readonly folder: string;
}

export interface SecuredServers extends AsyncDisposable {
  readonly places: SecuredPlaces;
}

/** @param jars as of {@link startEndpoint} */
export async function startSecuredServers(kind: EndpointKind, jars?: string): Promise<SecuredServers> {
  const folder = mkdtempSync(join(tmpdir(), "conformance-secured-"));
  writeSecuredMaterial(folder);
  const both = [
    "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    `ssl.keyStore.location=${join(folder, "server.pem")}`,
    `ssl.trustStore.location=${join(folder, "authority.pem")}`,
  ];
  const flags = [`-Djava.security.auth.login.config=${join(folder, "jaas.conf")}`, "-Dzookeeper.fips-mode=false"];
  const tlsPort = await freePort();
  const offering = [...both, `secureClientPort=${tlsPort}`, "secureClientPortAddress=127.0.0.1"];
  const demanding = [
    ...both,
    "authProvider.2=org.apache.zookeeper.server.auth.X509AuthenticationProvider",
    "client.portUnification=true",
    "ssl.clientAuth=want",
    "sessionRequireClientSASLAuth=true",
  ];
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const [first, second] = await Promise.all(
    [offering, demanding].map(async (settings) => stack.use(await startEndpoint(kind, jars, settings, flags))),
  );
  const stop = stack.move();
  return {
    places: {
      plain: `127.0.0.1:${first?.port}`,
      tls: `127.0.0.1:${tlsPort}`,
      strict: `127.0.0.1:${second?.port}`,
      folder,
    },
    [Symbol.asyncDispose]: async () => await stop.disposeAsync(),
  };
}
