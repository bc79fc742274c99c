// SPDX-License-Identifier: Apache-2.0
// Keys: gguf-py's constants.py. Defaults: load_hparams of llama.cpp.
#include "catalog/gguf/metadata.h"

#include <algorithm>

#include "catalog/gguf/understood.h"
#include "catalog/huggingface/keys.h"

namespace kvplan::gguf {
namespace {

using huggingface::Keys;

constexpr std::int64_t kMostBlocks = 10'000;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;
constexpr std::string_view kIndexerTypes = "attention.indexer.types", kOwnsIndexer = "full";

std::string text_of(const GgufFile& file, std::string_view key) {
  const Node* node = file.metadata.find(key);
  return node && node->kind == Node::scalar ? node->text : std::string();
}

Node own_keys(const GgufFile& file, const std::string& architecture) {
  Node own;
  own.kind = Node::map;
  const std::string prefix = architecture + ".";
  for (const auto& [key, value] : file.metadata.members)
    if (key.starts_with(prefix)) own.members.emplace_back(key.substr(prefix.size()), value);
  return own;
}

bool is_set(const Node& item) { return item.text != "0" && item.text != "false"; }

class Reader {
 public:
  Reader(const GgufFile& file, Metadata& m, const Node& own) : file_(file), m_(m), k_(own) {}

  void read() {
    k_.pass_over({"attention.causal"});
    read_sizes();
    read_heads();
    read_window();
    read_latent();
    read_state();
    read_indexers();
    for (const Rename& r : renamed_keys())
      if (r.reads_as.empty() || r.reads_as == m_.reads_as)
        if (const auto n = k_.integer({r.gguf}, 0, Keys::kMostTokens))
          m_.renamed.emplace_back(r.huggingface, *n);
    if (m_.known && m_.known->owners > 0 && !k_.has({"attention.shared_kv_layers"}))
      m_.renamed.emplace_back("num_kv_shared_layers",
                              std::max<std::int64_t>(0, m_.mains() - m_.known->owners));
  }
  std::vector<std::string> unread() const {
    std::vector<std::string> names;
    for (const Keys::Unread& key : k_.unread()) names.push_back(key.name);
    return names;
  }

 private:
  void read_sizes();
  void read_heads();
  void read_window();
  void read_latent();
  void read_state();
  void read_rwkv();
  void read_recurrent();
  void read_indexers();
  std::vector<std::int64_t> per_block(std::string_view key) const;
  std::vector<bool> flags(const Node& list, std::string_view key) const;
  std::vector<bool> every(std::int64_t period) const;

  const GgufFile& file_;
  Metadata& m_;
  Keys k_;
};

// A number for all blocks, or a list with one for each; zeros where the key is absent.
std::vector<std::int64_t> Reader::per_block(std::string_view key) const {
  const Node* node = k_.find({key});
  const auto count = static_cast<std::size_t>(m_.blocks);
  if (!node || node->kind != Node::list)
    return std::vector<std::int64_t>(count, k_.integer({key}, 0, kMostWidth).value_or(0));
  auto values = k_.integers({key});
  if (values.size() < count)
    throw Error("fewer entries than there are blocks").of(std::string(key));
  for (const std::int64_t n : values)
    if (n < 0 || n > kMostWidth)
      throw Error(std::to_string(n) + " is out of bounds").of(std::string(key));
  values.resize(count);
  return values;
}

// Lists may leave out the prediction layers.
std::vector<bool> Reader::flags(const Node& list, std::string_view key) const {
  if (static_cast<std::int64_t>(list.items.size()) < m_.mains())
    throw Error("fewer entries than there are blocks").of(std::string(key));
  std::vector<bool> set;
  for (const Node& item : list.items) set.push_back(is_set(item));
  set.resize(static_cast<std::size_t>(m_.blocks), false);
  return set;
}

void Reader::read_sizes() {
  m_.blocks = k_.count({"block_count"}, kMostBlocks);
  if (m_.reads_as == "t5") {  // it counts the encoder's
    m_.encoders = m_.blocks;
    m_.blocks = k_.integer({"decoder_block_count"}, 1, kMostBlocks).value_or(m_.blocks);
  }
  m_.drafts = k_.integer({"nextn_predict_layers"}, 0, m_.blocks - 1).value_or(0);
  m_.hidden = k_.count({"embedding_length"}, kMostWidth);
  m_.vocabulary = k_.integer({"vocab_size"}, 1).value_or(file_.vocabulary.value_or(0));
  for (const Tensor& t : file_.tensors)
    if (t.name == "token_embd.weight" && t.shape.size() == 2) m_.vocabulary = t.shape.front();
  m_.experts = k_.integer({"expert_count"}, 0, kMostWidth).value_or(0);
  m_.experts_per_token = k_.integer({"expert_used_count"}, 0, m_.experts).value_or(0);
}

void Reader::read_heads() {
  m_.heads = per_block("attention.head_count");
  m_.kv_heads =
      k_.has({"attention.head_count_kv"}) ? per_block("attention.head_count_kv") : m_.heads;
  m_.inner = per_block("feed_forward_length");
  const auto first = std::find_if(m_.heads.begin(), m_.heads.end(), [](auto n) { return n > 0; });
  const std::int64_t plain = first == m_.heads.end() ? 0 : m_.hidden / *first;
  const auto width = [&](std::string_view key, std::int64_t otherwise) {
    return k_.integer({key}, 1, kMostWidth).value_or(otherwise);
  };
  m_.k_width = width("attention.key_length", plain);
  m_.v_width = width("attention.value_length", plain);
  m_.k_width_sliding = width("attention.key_length_swa", m_.k_width);
  m_.v_width_sliding = width("attention.value_length_swa", m_.v_width);
}

std::vector<bool> Reader::every(std::int64_t period) const {
  const bool first = m_.known && m_.known->full_first;
  std::vector<bool> slides;
  for (std::int64_t i = 0; i < m_.blocks; ++i)
    slides.push_back(period == 0 || (first ? i % period != 0 : i % period < period - 1));
  return slides;
}

void Reader::read_window() {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  m_.window = k_.integer({"attention.sliding_window"}, 0, Keys::kMostTokens)
                  .value_or(m_.known ? m_.known->window : 0);
  if (m_.window > 0 && m_.known && m_.known->fixed_window > 0) m_.window = m_.known->fixed_window;
  const Node* pattern = k_.find({kPattern});
  if (m_.window == 0 || m_.reads_as == "deepseek_v4") return;
  if (pattern && pattern->kind == Node::list)
    m_.slides = flags(*pattern, kPattern);
  else if (pattern && pattern->text != "true" && pattern->text != "false")
    m_.slides = every(k_.integer({kPattern}, 0, kMostBlocks).value_or(0));
  else if (m_.known)
    m_.slides = every(m_.known->full_every);
  else
    throw Error("architecture '" + m_.architecture +
                "' has sliding windows and kv-plan does not know in which layers")
        .of("attention.sliding_window");
}

// Files written for attention over the latent itself give the widths of a head apart; older ones
// give them as the plain widths.
void Reader::read_latent() {
  if (m_.reads_as == "deepseek_v4") {
    m_.compress_ratios = k_.integers({"attention.compress_ratios"});
    m_.latent = {k_.count({"rope.dimension_count"}), 0, 0};
    return;
  }
  if (!k_.integer({"attention.kv_lora_rank"}, 1)) return;
  const std::int64_t key = k_.count_or({"attention.key_length_mla"}, m_.k_width);
  const std::int64_t value = k_.count_or({"attention.value_length_mla"}, m_.v_width);
  const std::int64_t rope = k_.count({"rope.dimension_count"}, kMostWidth);
  if (rope >= key)
    throw Error("the rotary part is not smaller than the head").of("rope.dimension_count");
  m_.latent = {rope, key - rope, value};
}

void Reader::read_state() {
  if (m_.state_kind == Architecture::none) return;
  if (m_.state_kind == Architecture::rwkv) return read_rwkv();
  if (m_.state_kind == Architecture::kda) m_.kda_width = k_.count({"kda.head_dim"}, kMostWidth);
  if (m_.state_kind != Architecture::short_conv)
    m_.state.taps = k_.count({"ssm.conv_kernel"}, kMostWidth);
  if (m_.state_kind != Architecture::short_conv && m_.state_kind != Architecture::kda) {
    m_.state.inner = k_.count({"ssm.inner_size"}, kMostWidth);
    m_.state.heads = k_.count({"ssm.time_step_rank"}, kMostWidth);
    m_.state.size = k_.count({"ssm.state_size"}, kMostWidth);
    m_.state.groups = k_.integer({"ssm.group_count"}, 0, kMostWidth).value_or(1);
    const bool by_heads = m_.state_kind != Architecture::mamba1;
    if (by_heads ? m_.state.inner % m_.state.heads != 0 : m_.state.inner % m_.hidden != 0)
      throw Error("it does not divide evenly").of("ssm.inner_size");
  }
  read_recurrent();
}

// Every layer keeps a matrix a head and the tokens before, of its two mixers or of one.
void Reader::read_rwkv() {
  m_.state.size = k_.count({"wkv.head_size"}, kMostWidth);
  m_.state.taps = 1 + k_.integer({"token_shift_count"}, 1, 16).value_or(2);
  m_.state.inner = m_.hidden;
  m_.state.heads = m_.state.groups = m_.hidden / m_.state.size;
  if (m_.hidden % m_.state.size != 0) throw Error("it does not divide evenly").of("wkv.head_size");
  m_.recurrent.assign(static_cast<std::size_t>(m_.blocks), true);
}

void Reader::read_recurrent() {
  constexpr std::string_view kList = "attention.recurrent_layers";
  if (m_.state_kind == Architecture::delta_net) {
    if (const Node* list = k_.find({kList}); list && list->kind == Node::list) {
      m_.recurrent = flags(*list, kList);
      return;
    }
    const std::int64_t interval = k_.count_or({"full_attention_interval"}, 4);
    for (std::int64_t i = 0; i < m_.blocks; ++i)
      m_.recurrent.push_back(i < m_.mains() && (i + 1) % interval != 0);
    return;
  }
  const bool blocks = m_.state_kind == Architecture::mamba2_blocks;
  for (std::size_t i = 0; i < m_.kv_heads.size(); ++i)
    m_.recurrent.push_back(m_.kv_heads[i] == 0 && !(blocks && m_.inner[i] > 0));
}

// The file stores an indexer where a layer owns one; a catalog entry says it in words, a log in
// numbers or, where all layers do, not at all.
void Reader::read_indexers() {
  const Node* types = k_.find({kIndexerTypes});
  if (!k_.integer({"attention.indexer.top_k"}, 1)) return;
  const bool listed = file_.tensors.empty();
  m_.indexers.resize(static_cast<std::size_t>(m_.blocks), listed && !types);
  if (listed && types)
    for (std::size_t i = 0; i < types->items.size() && i < m_.indexers.size(); ++i)
      m_.indexers[i] = types->items[i].text == kOwnsIndexer || types->items[i].text == "1";
  TensorPlaces places;
  for (const Tensor& t : file_.tensors) {
    if (!t.name.ends_with(".indexer.attn_k.weight")) continue;
    const auto layer = places.of(t.name).layer.value_or(m_.blocks);
    if (layer < m_.blocks) m_.indexers[static_cast<std::size_t>(layer)] = true;
  }
}

void require_model(const GgufFile& file, const std::string& architecture) {
  if (architecture.empty())
    throw Error("the file does not say what it is")
        .of("general.architecture")
        .advise("It may be a later part of a split model: give the first one.");
  if (const Refusal* refusal = find_refusal(architecture))
    throw Error("architecture '" + architecture + "': " + std::string(refusal->what))
        .of("general.architecture")
        .advise(std::string(refusal->advice));
  const std::string type = text_of(file, "general.type");
  if (!type.empty() && type != "model")
    throw Error("this file is no language model, it is of type '" + type + "'")
        .of("general.type")
        .advise("Give the file of the model that it belongs to.");
}

struct Reading {
  Node own;  // keys without the architecture's name
  Metadata metadata;
  std::vector<std::string> unread;
};

Reading read_all(const GgufFile& file) {
  Reading r;
  Metadata& m = r.metadata;
  m.architecture = text_of(file, "general.architecture");
  require_model(file, m.architecture);
  m.known = find_architecture(m.architecture);
  if (m.known) m.reads_as = m.known->reads_as, m.state_kind = m.known->state;
  r.own = own_keys(file, m.architecture);
  const bool decodes = !m.known || m.known->causal;
  if (decodes && !Keys(r.own).flag({"attention.causal"}, true))
    throw Error("an encoder keeps no cache between tokens; kv-plan plans decoders")
        .of("attention.causal");
  Reader reader(file, m, r.own);
  reader.read();
  r.unread = reader.unread();
  return r;
}

}  // namespace

Metadata read_metadata(const GgufFile& file, std::vector<Warning>& warnings) {
  Reading r = read_all(file);
  account_for(r.unread, r.metadata.architecture, warnings);
  return std::move(r.metadata);
}

Node keys_that_count(const GgufFile& file) {
  const Reading r = read_all(file);
  const Metadata& m = r.metadata;
  Node kept = map();
  put(kept, "general.architecture", word(m.architecture));
  const auto own = [&](std::string_view key) { return m.architecture + "." + std::string(key); };
  for (const auto& [key, value] : r.own.members) {
    if (key == "vocab_size" || key == kIndexerTypes) continue;
    const bool unread = std::find(r.unread.begin(), r.unread.end(), key) != r.unread.end();
    if (!unread || !is_irrelevant(key)) put(kept, own(key), value);
  }
  put(kept, own("vocab_size"), whole_number(m.vocabulary));
  Node types = list();
  for (const bool owns : m.indexers) types.items.push_back(word(owns ? kOwnsIndexer : "shared"));
  if (!m.indexers.empty()) put(kept, own(kIndexerTypes), std::move(types));
  return kept;
}

}  // namespace kvplan::gguf
