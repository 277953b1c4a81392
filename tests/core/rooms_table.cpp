#include "tests/core/rooms.h"

namespace palimpsest::testing {

const std::vector<Room>& rooms() {
  static const std::vector<Room> table = {
      {"core/base",
       "Matrices, arrays, records of named tensors, errors, random numbers, jobs on all cores.",
       {}},
      {"core/numbers",
       "Functions of numbers: feature maps, layer norm, Newton–Schulz, derivatives by jets, rounding as f32, "
       "tf32, bf16 and f16 do.",
       {"core/base"}},
      {"core/io", "Files: npz, npy, safetensors, csv, and captures.", {"core/base"}},
      {"core/formula",
       "An equation as a tree: its LaTeX, its arithmetic with numbers, an interpreter that checks it, and "
       "the functions it may call.",
       {"core/base", "core/numbers"}},
      {"core/contract",
       "What a variant is called, takes and hands on; a sequence bound to it; an output, and the difference "
       "of "
       "two.",
       {"core/base", "core/formula"}},
      {"core/operator",
       "What a variant asks an engine to do: programs of rows, batches of tokens, and the work that they "
       "count.",
       {"core/base", "core/numbers", "core/contract"}},
      {"core/engines",
       "An engine for each family of operators, what walks a sequence through one, and those of the "
       "processor in Eigen, to be read: the formula is above each statement.",
       {"core/base", "core/numbers", "core/contract", "core/operator"}},
      {"core/costs",
       "What the engines count, as formulas in the sizes.",
       {"core/contract", "core/operator", "core/engines"}},
      {"core/steps",
       "What a form shows: operations, lines, phases, and traces that walk through them.",
       {"core/base", "core/formula", "core/contract", "core/operator", "core/engines"}},
      {"core/rules",
       "How a kind of variant computes: operator, engines, costs and steps put together, and the questions "
       "that every rule answers.",
       {"core/base", "core/numbers", "core/contract", "core/operator", "core/engines", "core/costs",
        "core/steps"}},
      {"core/variants",
       "The family: a file per variant, or per family where declarations are all, and the one table.",
       {"core/base", "core/numbers", "core/formula", "core/contract", "core/engines", "core/costs",
        "core/steps", "core/rules"}},
      {"core/cases",
       "Sequences for any variant, made up at random.",
       {"core/base", "core/contract", "core/rules"}},
      {"core/insight",
       "What can be asked of a memory: losses and gradients, stability, recall, capacity, spectra, who "
       "wrote what.",
       {"core/base", "core/numbers", "core/contract", "core/operator", "core/engines", "core/steps",
        "core/rules", "core/variants", "core/cases"}},
      {"core/proof",
       "That all forms agree, and where they differ: tolerances, verify, faults, fragile forms, precisions.",
       {"core/base", "core/numbers", "core/formula", "core/contract", "core/steps", "core/rules",
        "core/variants", "core/cases"}},
      {"core/language",
       "Small language models around one layer: a text as pieces, what comes next, and what becomes of it "
       "when a layer is changed.",
       {"core/base", "core/io", "core/contract", "core/rules", "core/variants", "core/proof"}},
      {"core/race",
       "How fast forms are and what they cost: a plan of points, what each took, how near it is to what the "
       "machine can do, and where curves cross.",
       {"core/base", "core/contract", "core/operator", "core/engines", "core/rules", "core/variants",
        "core/cases"}},
      {"kernels",
       "Engines for speed: CUDA, and the backends by which everybody asks for an engine.",
       {"core/base", "core/numbers", "core/contract", "core/operator", "core/engines", "core/rules"}},
      {"app/session",
       "What somebody does with the program: data, edits, the state as one value, its history, and questions "
       "that other threads find out. No GUI type, no command line.",
       {"core/base", "core/io", "core/contract", "core/steps", "core/rules", "core/variants", "core/insight",
        "core/proof", "core/language", "core/race", "kernels"}},
      {"app/commands",
       "The command line.",
       {"core/base", "core/io", "core/formula", "core/contract", "core/steps", "core/rules", "core/variants",
        "core/language", "core/cases", "core/insight", "core/proof", "core/race", "kernels", "app/session"}},
      {"app/gl",
       "OpenGL: canvases, textures, the heat map's shader.",
       {"core/base", "core/io", "app/session"}},
      {"app/microtex",
       "What is mended of MicroTeX, which lays out formulas: a file in the place of its own.",
       {}},
      {"app/words",
       "What people read: sentences made of what was computed.",
       {"core/base", "core/formula", "core/insight", "app/session"}},
      {"app/widgets",
       "How things look and are set: colours and letters, formulas, heat maps, sliders.",
       {"core/base", "core/formula", "app/session", "app/words", "app/gl"}},
      {"app/scene",
       "A view as a value: its content, where it lies, how it is drawn and how its parts are found.",
       {"core/base", "core/formula", "app/session", "app/words", "app/gl", "app/widgets"}},
      {"app/stage",
       "A step as pictures: what is shown, where it lies, how it is drawn.",
       {"core/base", "core/formula", "core/numbers", "core/insight", "core/steps", "app/session", "app/gl",
        "app/widgets", "app/scene", "app/words"}},
      {"app/studio",
       "The program in front of a person, without a window: its commands, where its panels lie, what one "
       "changes.",
       {"core/variants", "core/base", "core/io", "core/steps", "app/session", "app/gl", "app/widgets",
        "app/scene", "app/stage"}},
      {"app/views",
       "What people see: the workspaces, their panels, the bars, what lies above them.",
       {"core/variants", "core/base", "core/numbers", "core/io", "core/formula", "core/contract",
        "core/steps", "core/insight", "core/race", "app/session", "app/gl", "app/widgets", "app/scene",
        "app/stage", "app/studio", "app/words"}},
      {"app/window",
       "The window itself, pictures without one, how long a frame takes.",
       {"core/variants", "core/base", "core/io", "app/session", "app/commands", "app/gl", "app/widgets",
        "app/scene", "app/studio", "app/views"}},
  };
  return table;
}

}  // namespace palimpsest::testing
