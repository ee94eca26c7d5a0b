import { connect } from "node:net";

/** The answer of a server to one of the four-letter words. */
export async function fourLetterWord(port: number, word: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(word);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}
