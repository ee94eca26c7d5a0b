import { useCallback, useState } from "preact/hooks";
import type { Word } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { goTo } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";
import { SearchField, SelectField } from "../parts/fields.tsx";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 5_000;
const WORDS: Readonly<Record<Word, string>> = {
  srvr: "the server's figures",
  mntr: "all figures",
  conf: "its configuration",
  envi: "its environment",
  cons: "its connections",
  dump: "sessions and ephemeral nodes",
  dirs: "sizes of its directories",
  wchs: "the number of watches",
  wchc: "watches by session",
  wchp: "watches by path",
};

/** The members' answers to four-letter words. */
export function WordsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const word = (Object.keys(WORDS) as Word[]).find((each) => each === params["word"]) ?? "srvr";
  const sid = /^\d{1,3}$/.test(params["sid"] ?? "") ? Number(params["sid"]) : undefined;
  const { value: ensemble } = usePolled(api.ensemble, POLL_MS);
  const read = useCallback(() => api.word(word, sid), [word, sid]);
  const { value, error } = usePolled(read, POLL_MS);
  const [filter, setFilter] = useState("");
  const lines = (value?.text ?? "").split("\n").filter((line) => line.toLowerCase().includes(filter.toLowerCase()));
  return (
    <section class="page">
      <h1>Four-letter words</h1>
      <div class="toolbar">
        <SelectField
          label="Member"
          isInline
          value={String(sid ?? ensemble?.members[0]?.sid ?? 0)}
          options={(ensemble?.members ?? []).map(({ sid: id, address }) => ({
            id: String(id ?? 0),
            label: id === null ? address : `Server ${id}, ${address}`,
          }))}
          onChange={(id) => goTo("words", { word, sid: id })}
        />
        <SelectField
          label="Word"
          isInline
          value={word}
          options={Object.entries(WORDS).map(([id, meaning]) => ({ id, label: `${id}: ${meaning}` }))}
          onChange={(id) => goTo("words", { word: id, sid: params["sid"] ?? "" })}
        />
        <SearchField label="Filter" value={filter} onText={setFilter} />
      </div>
      <Failure text={error} />
      <section class="block data" tabIndex={0} aria-label="Answer">
        <pre>{visible(lines.join("\n"))}</pre>
      </section>
      {value?.isCut === true && <p class="hint">Only the beginning is shown.</p>}
    </section>
  );
}
