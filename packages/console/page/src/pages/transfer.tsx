import { useMayEdit } from "../parts/session-context.ts";
import { ExportPart } from "./export-part.tsx";
import { ImportPart } from "./import-part.tsx";

/** A subtree as a file, out and in. */
export function TransferPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const path = params["path"] ?? "/";
  const mayEdit = useMayEdit();
  return (
    <section class="page">
      <h1>{mayEdit ? "Import and export" : "Export"}</h1>
      <div class="cards">
        <ExportPart initialPath={path} />
        {mayEdit && <ImportPart initialPath={path} />}
      </div>
    </section>
  );
}
