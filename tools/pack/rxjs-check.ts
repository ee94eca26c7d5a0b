import { globSync } from "node:fs";
import { join } from "node:path";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { type Manifest, ROOT, readManifest } from "./public-packages.ts";

/** The oldest and the newest RxJS that the client's range accepts, as npm names them. */
export function supportedRxjs(): readonly string[] {
  const { peerDependencies } = readManifest(join(ROOT, "packages/client/package.json"));
  const range = peerDependencies?.["rxjs"] ?? "";
  if (!/^\^7\.\d+\.\d+$/.test(range)) throw new Error(`the client's range of rxjs is ^7.x.y, found ${range}`);
  return [range.slice("^".length), "7"];
}

/** A NestJS application whose own streams are mixed with those of the client and of a recipe. */
const APPLICATION = `
import "reflect-metadata";
import { Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type Client, createClient } from "@zooid/client";
import { LeaderLatch } from "@zooid/recipes";
import { firstValueFrom, map, merge, NEVER, Observable, of, toArray } from "rxjs";

const ZOOKEEPER = Symbol("ZooKeeper");

@Injectable()
class Coordination implements OnApplicationShutdown {
  readonly states$: Observable<string>;
  readonly isLeader$: Observable<boolean>;

  constructor(@Inject(ZOOKEEPER) readonly zk: Client) {
    const latch = new LeaderLatch(zk, "/leader");
    this.isLeader$ = merge(NEVER, latch.isLeader$);
    this.states$ = merge(of("first"), zk.state$.pipe(map(({ kind }) => kind)));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.zk.close();
  }
}

@Module({ providers: [Coordination, { provide: ZOOKEEPER, useValue: createClient("127.0.0.1:1") }] })
class Application {}

const app = await NestFactory.createApplicationContext(Application, { logger: false });
const { zk, states$, isLeader$ } = app.get(Coordination);
if (!(zk.state$ instanceof Observable) || !(isLeader$ instanceof Observable)) throw new Error("two copies of rxjs");
const seen = firstValueFrom(states$.pipe(toArray()));
await app.close();
console.log((await seen).join(" "));
`;

/**
 * Installs the client, the recipes and NestJS beside one version of RxJS, type-checks an
 * application of them, and runs it.
 *
 * @param rxjs the version that the application asks for
 * @throws with what failed first
 */
export async function checkRxjs(
  rxjs: string,
  options: ConsumerOptions & { readonly nodeTypes: string },
): Promise<void> {
  const consumer = new Consumer(options);
  const nest = ["@nestjs/common@11", "@nestjs/core@11", "reflect-metadata@0.2"];
  const ours = ["@zooid/client", "@zooid/recipes"];
  await consumer.install([`rxjs@${rxjs}`, ...ours, ...nest, `@types/node@${options.nodeTypes}`]);
  const copies = globSync("node_modules/**/rxjs/package.json", { cwd: consumer.directory }).filter(isPackage(consumer));
  if (copies.length !== 1) throw new Error(`one copy of rxjs is installed beside rxjs ${rxjs}, found ${copies}`);
  consumer.write("application.ts", APPLICATION);
  // NestJS has decorators of before the standard, and declarations of its own packages alone are to
  // be looked into.
  await consumer.compile(["node"], { experimentalDecorators: true, skipLibCheck: true });
  const seen = (await consumer.run("out/application.js")).trim();
  if (!/^first .*closed$/.test(seen)) throw new Error(`the application's states end with closed, found ${seen}`);
}

/** Leaves out the folders of entries, which have a package.json as well. */
function isPackage({ directory }: Consumer): (file: string) => boolean {
  return (file) => (readManifest(join(directory, file)) as Partial<Manifest>).version !== undefined;
}
