import { getSystemErrorMessage } from "node:util";

/** The sentence for a port that could not be opened, which names the options. */
export function listenFault(
  error: unknown,
  { address, port }: { readonly address: string; readonly port: number },
): string {
  return `the console cannot listen on --address ${address} --port ${port}: ${reasonOf(error)}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "EADDRINUSE") return "another program listens there";
  return "errno" in error && typeof error.errno === "number" ? getSystemErrorMessage(error.errno) : error.message;
}
