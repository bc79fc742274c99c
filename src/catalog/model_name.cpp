// SPDX-License-Identifier: Apache-2.0
#include "catalog/model_name.h"

#include <algorithm>
#include <cstddef>

#include "model/average.h"
#include "word_list.h"

namespace kvplan {
namespace {

using Words = std::vector<std::string>;

// What publishers of quantised checkpoints add to a name, and the recipe that it stands for; longer
// phrases first. One without a group size has groups of 128.
struct Phrase {
  std::string_view words, recipe;
};
constexpr Phrase kPhrases[] = {
    {"fp8 dynamic", "fp8-channel"},
    {"fp8 block", "fp8-block128"},
    {"gptq int8", "int8-g128"},
    {"gptq 8bit", "int8-g128"},
    {"gptq int4", "int4-g128"},
    {"gptq 4bit", "int4-g128"},
    {"awq int4", "int4-g128-zp"},
    {"awq 4bit", "int4-g128-zp"},
    {"bnb 4bit", "nf4"},
    {"bnb 8bit", "int8-channel"},
    {"mlx 8bit", "mlx-8bit-g64"},
    {"mlx 6bit", "mlx-6bit-g64"},
    {"mlx 5bit", "mlx-5bit-g64"},
    {"mlx 4bit", "mlx-4bit-g64"},
    {"mlx 3bit", "mlx-3bit-g64"},
    {"autoround", "int4-g128"},
    {"awq", "int4-g128-zp"},
    {"gptq", "int4-g128"},
    {"w4a16", "int4-g128"},
    {"w8a16", "int8-channel"},
    {"w8a8", "int8-channel"},
    {"nvfp4", "nvfp4"},
    {"fp4", "nvfp4"},
    {"mxfp4", "mxfp4"},
    {"fp8", "fp8"},
    {"int8", "int8-channel"},
    {"8bit", "int8-channel"},
    {"int4", "int4-g128"},
    {"4bit", "int4-g128"},
    {"bf16", "bf16"},
    {"fp16", "fp16"},
    {"f16", "fp16"},
    {"qat", "q4_0"},
};

// Words that change no shape: how a model was tuned, who packed it, which program reads it.
constexpr std::string_view kRemarks =
    "abliterated base bnb chat exl2 exl3 dynamic gguf hf i1 imat imatrix instruct it latest meta "
    "mlx pt qat "
    "quantized text uncensored unsloth";
constexpr std::string_view kPlaces[] = {"https://", "http://", "huggingface.co/", "hf.co/",
                                        "ollama.com/library/"};
// What follows "q4" in the name of a file type of GGUF.
constexpr std::string_view kFileTypeWords = "0 1 k l m nl s xl xs xxs";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Lower case; a dot parts letters, as in "quantized.w4a16" and "8B.Q4_K_M", not digits.
Words words_in(std::string_view text) {
  Words words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool parts = c == '-' || c == '_' || c == ' ' || c == ':' || c == '/' ||
                       (c == '.' && i > 0 && is_letter(text[i - 1]));
    if (!parts)
      words.back() += lower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const Words& words, char between) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "q4", "iq2", "tq1".
bool opens_file_type(std::string_view word) {
  if (word.starts_with("i") || word.starts_with("t")) word.remove_prefix(1);
  return word.size() == 2 && word[0] == 'q' && word[1] >= '1' && word[1] <= '8';
}

// Takes "q4 k m" (and the "ud" of a vendor's own mix) out of the words: "q4_k_m".
std::string take_file_type(Words& words) {
  const auto first = std::find_if(words.begin(), words.end(), opens_file_type);
  if (first == words.end()) return {};
  auto end = first + 1;
  while (end != words.end() && has_word(kFileTypeWords, *end)) ++end;
  const auto from = first != words.begin() && *(first - 1) == "ud" ? first - 1 : first;
  const std::string type = joined(Words(from, end), '_');
  words.erase(from, end);
  return type;
}

// "g32", "32g": groups of so many weights; empty for any other word.
std::string group_of(const std::string& word) {
  for (const char* size : {"32", "64", "128"})
    if (word == "g" + std::string(size) || word == size + std::string("g"))
      return "g" + std::string(size);
  return {};
}

// "4.0bpw h6 exl3": the average of the layers' matrices; the head has its own width, 6 bits unless
// the name says otherwise, and the token table stays as it was (turboderp-org/exllamav2 and v3,
// conversion).
std::string take_average(Words& words) {
  const auto at = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return average_format(word) != nullptr;
  });
  if (at == words.end()) return {};
  const bool eight = has(words, "h8");
  std::string recipe = *at + ",embedding=fp16,head=" + (eight ? "int8" : "fp6");
  words.erase(at);
  std::erase_if(words, [](const std::string& word) {
    return word == "h6" || word == "h8" || word == "exl2" || word == "exl3";
  });
  return recipe;
}

std::string take_phrase(Words& words) {
  if (std::string average = take_average(words); !average.empty()) return average;
  for (const auto& [phrase, recipe] : kPhrases) {
    const Words wanted = words_in(phrase);
    const auto at = std::search(words.begin(), words.end(), wanted.begin(), wanted.end());
    if (at == words.end()) continue;
    words.erase(at, at + static_cast<std::ptrdiff_t>(wanted.size()));
    std::string taken(recipe);
    for (const std::string& word : words)
      if (const std::string group = group_of(word);
          !group.empty() && taken.starts_with("int4-g128"))
        taken.replace(5, 4, group);
    std::erase_if(words, [](const std::string& word) { return !group_of(word).empty(); });
    return taken;
  }
  return {};
}

}  // namespace

TypedModel typed_model(std::string_view typed) {
  constexpr std::size_t kLongest = 200;
  if (typed.size() > kLongest) return {};
  for (const std::string_view place : kPlaces)
    if (typed.starts_with(place)) typed.remove_prefix(place.size());
  const std::size_t slash = typed.find('/');
  const bool of_mlx = typed.starts_with("mlx-community/");
  Words words = words_in(slash == typed.npos ? typed : typed.substr(slash + 1));
  if (of_mlx && !has(words, "mlx")) {  // its checkpoints say "4bit" alone
    const auto bits = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word.ends_with("bit"); });
    words.insert(bits, "mlx");
  }
  TypedModel model;
  model.whole = joined(words, '-');
  model.is_tag = slash == typed.npos && typed.find(':') != typed.npos;
  model.weights = take_file_type(words);
  const std::string by_phrase = take_phrase(words);
  if (model.weights.empty()) model.weights = by_phrase;
  model.is_gguf = is_gguf_recipe(model.weights) || has(words, "gguf");
  const auto add = [&] {
    std::string name = joined(words, '-');
    if (!name.empty() && (model.names.empty() || model.names.back() != name))
      model.names.push_back(std::move(name));
  };
  std::erase_if(words, [](const std::string& word) { return word == "gguf" || word == "mlx"; });
  add();
  std::erase_if(words, [](const std::string& word) { return has_word(kRemarks, word); });
  add();
  return model;
}

bool is_gguf_recipe(std::string_view weights) {
  return is_by_size(weights) || weights == "mxfp4_moe" ||
         opens_file_type(weights.substr(0, weights.find('_')));
}

}  // namespace kvplan
