import { startServer } from "@zooid/server";

const server = await startServer({ port: Number(process.argv[2] ?? 2181), fourLetterWords: "*", connectionsPerAddressMax: 0 });
console.log(`serving ${server.connectString}`);
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
