#include "core/steps/phase.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

/// The algebra of one token's columns, or of rows of tokens: the same steps, transposed. Rows have the name
/// of the column, with a capital letter.
struct Orientation {
  bool token;

  std::string name(const std::string& column) const { return token ? column : capitalised(column); }
  Expression of(const std::string& column) const { return tensor(name(column)); }

  /// W^T x, or X W.
  Expression through(const Expression& W, const Expression& x) const {
    return token ? transpose(W) * x : x * W;
  }
  /// W x, or X W^T.
  Expression back(const Expression& W, const Expression& x) const { return token ? W * x : x * transpose(W); }
  /// x + b.
  Expression plus(const Expression& x, const Expression& b) const {
    return token ? x + b : call("add_to_rows", {x, b});
  }
  /// gain o x, the gain a column.
  Expression stretched(const Expression& gain, const Expression& x) const {
    return hadamard(token ? gain : transpose(gain), x);
  }
  /// x times a number per token.
  Expression each_times(const Expression& numbers, const Expression& x) const {
    return token ? numbers * x : hadamard(numbers, x);
  }
  /// A function of vectors.
  Expression applied(const std::string& function, std::vector<Expression> arguments) const {
    return call(token ? function : "row_" + function, std::move(arguments));
  }
};

struct NetworkSteps {
  const NetworkPlan& plan;
  const NetworkShown& shown;
  Orientation by = {shown.form == Form::recurrent};
  PhaseBuilder steps{by.token ? "token by token" : "piece by piece of an inner batch"};

  bool deep() const { return plan.layers() == 2; }
  std::string last_gradient() const { return "g" + plan.suffix(plan.layers() - 1); }
  Expression query() const { return palimpsest::query(shown.scaled, by.name("q")); }
  Expression start(const std::string& parameter) const { return tensor(parameter + "_start"); }
  std::string before() const { return by.token ? "_before" : "_in"; }
  std::string after() const { return by.token ? "_after" : "_out"; }

  /// x through a layer with the parameters called `name` + `when`.
  Expression layer(std::size_t index, const Expression& x, const std::string& prefix,
                   const std::string& when) const {
    const Expression through = by.through(tensor(prefix + plan.weights[index] + when), x);
    return plan.has_biases() ? by.plus(through, tensor(prefix + plan.biases[index] + when)) : through;
  }

  /// LN of x: gain o norm(x) + bias.
  Expression layer_norm(const Expression& standardised) const {
    return by.plus(by.stretched(tensor("ln_weight"), standardised), tensor("ln_bias"));
  }

  /// The inputs of layer `index` for the keys, and for the queries.
  Expression key_input(std::size_t index) const { return by.of(index == 0 ? "k" : "h"); }
  Expression query_input(std::size_t index) const { return index == 0 ? query() : by.of("x"); }

  void predict() {
    std::size_t index = 0;
    if (deep()) {
      steps.add("hidden_input", Purpose::hidden, "Input of the hidden units",
                "The key through the first layer, with the weights from before the batch.", by.name("z"),
                layer(index++, by.of("k"), "", "_start"));
      steps.add("hidden", Purpose::hidden, "Hidden units",
                "GELU passes large inputs, blocks very negative ones, and is smooth between.", by.name("h"),
                call("gelu", {by.of("z")}));
      steps.line("Inside the network", "The key through the first layer.", {by.name("z")});
    }
    steps.add("prediction", Purpose::prediction, "Prediction v̂",
              by.token ? "What did the memory before the batch return for the key of “{token}”?"
                       : "What did the memory before the batch return for every key?",
              by.name("y"), layer(index, key_input(index), "", "_start"));
  }

  void differentiate() {
    const std::string g = by.name(last_gradient());
    if (!shown.normalised) {
      steps.add("gradient", Purpose::gradient, "Prediction minus target",
                "The prediction minus the target: the gradient of the loss at the prediction.", g,
                by.of("y") - by.of("v"));
      steps.line("Prediction minus target", "The prediction minus the target.", {by.name("y")});
    } else {
      steps.line("Prediction v̂", "The prediction before layer norm.");
      steps.add("standardise", Purpose::standardise, "Normalised prediction",
                "Layer norm removes the mean and the scale of the prediction.", by.name("y_hat"),
                by.applied("standardise", {by.of("y"), tensor("ln_eps")}));
      steps.add("deviation", Purpose::standardise, "Standard deviation",
                "Layer norm divides the prediction by this deviation; the gradient is divided by it too.",
                by.name("deviation"), by.applied("deviation", {by.of("y"), tensor("ln_eps")}));
      steps.add("mismatch", Purpose::mismatch, "Prediction minus target",
                "The normalised prediction minus its target, the value minus the key.", by.name("e"),
                layer_norm(by.of("y_hat")) - (by.of("v") - by.of("k")));
      steps.line("Prediction minus target", "The normalised prediction minus the value, plus the key.",
                 {by.name("y_hat")});
      steps.add("weighed", Purpose::gradient, "Gradient before layer norm",
                "The gain scales the prediction, so it scales the gradient too.", by.name("delta"),
                by.stretched(tensor("ln_weight"), by.of("e")));
      steps.add("gradient", Purpose::gradient, "Back through the norm",
                "The gradient without its shift and its scale: layer norm removes both.", g,
                by.applied("layer_norm_gradient", {by.of("delta"), by.of("y_hat"), by.of("deviation")}));
      steps.line("Back through the norm", "The gradient of the loss at the prediction.");
    }
    if (!deep()) return;
    steps.add("hidden_gradient", Purpose::hidden_gradient, "Back through the network",
              "The gradient at each hidden unit; units that GELU blocks receive almost none.", by.name("g1"),
              hadamard(by.back(start(plan.weights[1]), by.of(last_gradient())),
                       call("gelu_derivative", {by.of("z")})));
    steps.line("Back through the network", "The gradient at the hidden units.");
  }

  /// eta g of one layer.
  Expression step(std::size_t index) const {
    return by.each_times(tensor("eta"), by.of("g" + plan.suffix(index)));
  }

  /// What the tokens of this block add to the sum of a parameter's gradients.
  Expression gradient_of(std::size_t index, bool is_bias) const {
    if (by.token) {
      const Expression g = by.of("g" + plan.suffix(index));
      return is_bias ? tensor("eta") * g : tensor("eta") * key_input(index) * transpose(g);
    }
    return is_bias ? call("sum_of_rows", {step(index)}) : transpose(key_input(index)) * step(index);
  }

  void learn(std::size_t index, bool is_bias) {
    const std::string& parameter = is_bias ? plan.biases[index] : plan.weights[index];
    const std::string sum = "sum_" + parameter;
    const Expression added = gradient_of(index, is_bias);
    const bool goes_on = by.token || shown.divided;
    steps.add("gradients_" + parameter, Purpose::gathered, "Sum of the gradients so far",
              by.token ? "“{token}” adds its gradient to those of the batch so far."
                       : "The sum of the gradients of all tokens of the batch so far.",
              sum + after(), goes_on ? tensor(sum + before()) + added : added);
    const Expression learned = tensor(sum + after());
    const Expression step_taken = shown.sigma ? tensor(by.token ? "sigma" : "sigma_last") * learned : learned;
    steps.add("learn_" + parameter, Purpose::learn, is_bias ? "The bias after" : "Memory after the write",
              by.token ? "The weights before the batch minus the gradients so far."
                       : "The weights before the batch minus all gradients.",
              parameter + after(), start(parameter) - step_taken);
    steps.line(is_bias ? "The bias is updated" : "The memory is updated",
               "The weights before the batch minus the gradients so far.", {sum + after()}, is_bias ? 1 : 2);
  }

  void learn_all() {
    for (std::size_t index = 0; index < plan.layers(); ++index) {
      learn(index, false);
      if (plan.has_biases()) learn(index, true);
    }
  }

  /// The layer's output for the queries with every token's own weights.
  Expression answer(std::size_t index) const {
    const Expression x = query_input(index);
    if (by.token) return layer(index, x, "", "_after");
    const Expression now = layer(index, x, "", "_start") - tensor("P" + plan.suffix(index)) * step(index);
    if (!shown.divided) return now;
    const Expression earlier = layer(index, x, "sum_", "_in");
    return now - (shown.sigma ? hadamard(tensor("sigma"), earlier) : earlier);
  }

  void who_reads_whom(std::size_t index) {
    if (by.token) return;
    const std::string P = "P" + plan.suffix(index);
    Expression scores = query_input(index) * transpose(key_input(index));
    if (plan.has_biases()) scores = call("plus_one", {scores});
    if (shown.sigma) scores = hadamard(tensor("sigma"), scores);
    steps.add("scores" + plan.suffix(index), Purpose::scores, "Attention scores",
              "How much of the gradient of token j does token i use? Inside the batch, j ≤ i only.", P,
              call("lower", {scores}));
    steps.line("Attention scores", "Scores of queries and keys replace separate weights for every token.");
  }

  void read() {
    std::size_t index = 0;
    if (deep()) {
      who_reads_whom(index);
      steps.add("query_hidden_input", Purpose::ask, "Input of the hidden units",
                "The query through the first layer, after this token's update.", by.name("z_q"),
                answer(index++));
      steps.add("query_hidden", Purpose::hidden, "Hidden units", "GELU, now for the query.", by.name("x"),
                call("gelu", {by.of("z_q")}));
      steps.line("Inside the network", "The query through the first layer.", {by.name("z_q")});
    }
    who_reads_whom(index);
    const char* sentence =
        by.token ? "What does the memory return for the query of “{token}”?"
                 : "What the weights after each token return for its query, computed without forming them.";
    if (!shown.normalised) {
      steps.add_line({"output", Purpose::output, "Output", sentence, by.name("o"), answer(index)});
      return;
    }
    steps.add("answer", Purpose::ask, "Retrieved value", sentence, by.name("y_q"), answer(index));
    steps.add_line(
        {"output", Purpose::output, "Output", "The query plus the normalised retrieved value.", by.name("o"),
         query() + layer_norm(by.applied("standardise", {by.of("y_q"), tensor("ln_eps")}))},
        {by.name("y_q")});
  }

  /// A batch starts from the weights of the token before it, and sums up its own gradients.
  std::vector<Carry> carries() const {
    std::vector<Carry> all;
    for (const std::string& parameter : plan.parameters()) {
      all.push_back({parameter + after(), parameter + "_start", Carry::When::starting_anew});
      all.push_back({parameter + "_start", parameter + "_start", Carry::When::going_on});
      all.push_back({"sum_" + parameter + after(), "sum_" + parameter + before(), Carry::When::going_on});
    }
    return all;
  }

  Phase all() {
    predict();
    differentiate();
    if (by.token) learn_all();
    read();
    if (!by.token) learn_all();
    steps.carry(carries());
    return steps.take();
  }
};

/// "S_t", "W_{1,t}": the letter of a parameter with an index.
std::string letter_of(const std::string& parameter, bool of_sum) {
  const bool is_bias = std::islower(static_cast<unsigned char>(parameter[0])) != 0;
  if (of_sum) return is_bias ? "a" : "A";
  if (parameter == "bias") return "c";
  return parameter.substr(0, 1);
}

std::string indexed(const std::string& parameter, bool of_sum, const std::string& index) {
  const char last = parameter.back();
  std::string number = std::isdigit(static_cast<unsigned char>(last)) != 0 ? std::string(1, last) : "";
  if (!number.empty() && !index.empty()) number += ",";
  const std::string subscript = number + index;
  const std::string letter = letter_of(parameter, of_sum);
  return subscript.empty() ? letter : fmt::format("{}_{{{}}}", letter, subscript);
}

Symbols network_symbols(const NetworkPlan& plan, const NetworkShown& shown) {
  const Orientation by{shown.form == Form::recurrent};
  const std::string t = by.token ? "_t" : "";
  const auto vector = [&](const std::string& column, const std::string& latex, Role role,
                          const std::string& words) {
    std::string letter = latex;
    const std::size_t space = letter.rfind(' ');  // behind the accent of "\\hat y"
    const std::size_t first = space != std::string::npos ? space + 1 : letter[0] == '\\' ? 1 : 0;
    if (!by.token) letter[first] = static_cast<char>(std::toupper(static_cast<unsigned char>(letter[first])));
    return std::pair(by.name(column), Symbol{letter, role, words});
  };
  const auto below = [&](const std::string& index) {
    return by.token ? fmt::format("_{{{},t}}", index) : fmt::format("_{{{}}}", index);
  };
  Symbols symbols = usual_symbols(shown.form, "\\kappa");
  symbols.insert({
      {"eta", {"\\eta" + t, Role::strength, "learning rate"}},
      {"sigma", {"\\sigma" + t, Role::gate, "position factor"}},
      {"sigma_last", {"\\sigma_L", Role::gate, "position factor of the last token"}},
      {"ln_weight", {"\\gamma", Role::plain, "gain of the layer norm"}},
      {"ln_bias", {"\\beta", Role::plain, "bias of the layer norm"}},
      {"ln_eps", {"\\epsilon", Role::plain, "added to the variance"}},
      vector("z", "z" + t, Role::key, "input of the hidden units"),
      vector("h", "h" + t, Role::key, "hidden units of the key"),
      vector("y", "y" + t, Role::value, "prediction v̂"),
      vector("y_hat", "\\hat y" + t, Role::value, "normalised prediction"),
      vector("e", "e" + t, Role::error, "prediction minus target"),
      vector("delta", "\\delta" + t, Role::error, "gradient before layer norm"),
      vector("g", "g" + t, Role::error, "gradient at the prediction"),
      vector("g1", "g" + below("1"), Role::error, "gradient at the hidden units"),
      vector("g2", "g" + below("2"), Role::error, "gradient at the prediction"),
      vector("z_q", "z" + below("q"), Role::query, "input of the hidden units for the query"),
      vector("x", "x" + t, Role::query, "hidden units of the query"),
      vector("y_q", "y" + below("q"), Role::output, "retrieved value before layer norm"),
      {by.name("deviation"), {by.token ? "r_t" : "r", Role::plain, "standard deviation of the prediction"}},
      {"P", {"P", Role::plain, "attention scores"}},
      {"P1", {"P_1", Role::plain, "attention scores, first layer"}},
      {"P2", {"P_2", Role::plain, "attention scores, second layer"}},
  });
  for (const std::string& parameter : plan.parameters()) {
    const auto add = [&](const std::string& name, bool of_sum, const std::string& index,
                         const std::string& prime, const std::string& words) {
      symbols[name] = {indexed(parameter, of_sum, index) + prime, Role::state, words};
    };
    add(parameter + "_start", false, by.token ? "\\tau" : "", "", "memory before the batch");
    add("sum_" + parameter + (by.token ? "_before" : "_in"), true, by.token ? "t-1" : "", "",
        "sum of the gradients before");
    add("sum_" + parameter + (by.token ? "_after" : "_out"), true, by.token ? "t" : "", by.token ? "" : "'",
        "sum of the gradients so far");
    add(parameter + (by.token ? "_after" : "_out"), false, by.token ? "t" : "", by.token ? "" : "'",
        "memory after");
  }
  return symbols;
}

}  // namespace

Steps network_steps(const NetworkPlan& plan, const NetworkShown& shown) {
  return {{NetworkSteps{plan, shown}.all()}, network_symbols(plan, shown)};
}

}  // namespace palimpsest
