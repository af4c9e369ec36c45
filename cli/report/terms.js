// SPDX-License-Identifier: Apache-2.0
// terms.js - each term of the page in a sentence.
(() => {
  const { make } = fabricast;
  const TERMS = [
    ["step, iteration", "One round of training: every GPU reads its samples, computes gradients, exchanges them and updates its parameters."],
    ["compute", "Time in which a GPU runs kernels, whether or not it communicates as well."],
    ["communication", "Time in which at least one collective or message of a GPU is under way."],
    ["hidden (overlapped)", "Communication that runs while the GPU computes: it costs nothing, but for what it takes from the kernels."],
    ["exposed communication", "Communication while the GPU does not compute: what training pays for the network. A faster network can only win this back."],
    ["idle", "Neither compute nor communication: a GPU waits for others, as the stages of a pipeline do."],
    ["waiting", "A collective begins when its last rank has arrived; until then the others wait. That is no exposed communication."],
    ["MFU", "Model FLOPs utilisation: the arithmetic that the model needs, over what the GPUs could have done in that time."],
    ["HFU", "The same with all arithmetic that was done, so with what was computed twice to save memory."],
    ["collective", "An operation that all ranks of a group do together; all-reduce gives everyone the sum of everyone's numbers."],
    ["algorithm bandwidth", "Size over time, as nccl-tests prints it (algbw). Bus bandwidth multiplies it so that a perfect ring shows the rate of its links."],
    ["binding link", "The link that would be full first, and so sets the rate of a collective. A faster link elsewhere changes nothing."],
    ["busy", "Share of the step in which a link carries something, headers included, if it carried it at its full rate."],
    ["line rate", "What a link carries in one direction after coding. 200 Gb/s are 25 GB/s."],
    ["critical path", "The chain of tasks, each waiting for the one before, that is as long as the step. Other tasks could be slower without harm."],
    ["rank", "One GPU of the job. Ranks that do the same at the same time are one class, and one timeline stands for all of them."],
    ["data parallelism", "Every GPU has the whole model and other samples; gradients are added up. ZeRO and FSDP also share out what is stored."],
    ["tensor parallelism", "Each matrix is divided over a few GPUs, which exchange results within every layer: it needs the fastest links."],
    ["pipeline parallelism", "Each GPU has some of the layers and hands its results on; at the beginning and the end stages are idle."],
    ["oversubscription", "How much more the ports below a switch could send than those above it can take; 1 means that nothing is lost."],
    ["fidelity", "How closely the network is simulated: closed formulas, flows that share links, steps of collectives, or single packets."],
  ];

  fabricast.parts.terms = (host) => {
    if (host.childElementCount > 0) return;
    host.append(make("h2", {}, "Terms"), make("dl", { class: "terms" }, TERMS.map(([term, text]) =>
      make("div", {}, make("dt", {}, term), make("dd", {}, text)))));
  };
})();
