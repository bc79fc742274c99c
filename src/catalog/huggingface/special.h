// SPDX-License-Identifier: Apache-2.0
// Families whose layers are not an ordinary decoder's: one named function each, in the file of its
// subject.
#pragma once
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

// hybrids.cpp: attention in some layers, recurrence in the others
void kimi_linear_layer(Draft&, std::int64_t i, Layer&);
void jamba_layer(Draft&, std::int64_t i, Layer&);
void mamba2_hybrid_layer(Draft&, std::int64_t i, Layer&);
void falcon_h1_layer(Draft&, std::int64_t i, Layer&);
void lfm2_widths(Draft&);
void lfm2_layer(Draft&, std::int64_t i, Layer&);
void mamba_layer(Draft&, std::int64_t i, Layer&);
void mamba2_layer(Draft&, std::int64_t i, Layer&);
// nemotron.cpp
void nemotron_h_layer(Draft&, std::int64_t i, Layer&);
void nemotron_h_mtp_layer(Draft&, std::int64_t last, Layer&);
void nemotron_nas_layer(Draft&, std::int64_t i, Layer&);
// deepseek_v4.cpp
void deepseek_v4_layer(Draft&, std::int64_t i, Layer&);
void finish_deepseek_v4(Draft&);
// gemma.cpp
void gemma3n_layer(Draft&, std::int64_t i, Layer&);
void finish_gemma3n(Draft&);
void gemma4_layer(Draft&, std::int64_t i, Layer&);
void finish_gemma4(Draft&);
// encoders.cpp: T5 and Whisper decoders look at their encoder too; BERT is an encoder only
void t5_layer(Draft&, std::int64_t i, Layer&);
void finish_t5(Draft&);
void whisper_layer(Draft&, std::int64_t i, Layer&);
void finish_whisper(Draft&);
void bert_layer(Draft&, std::int64_t i, Layer&);
void finish_bert(Draft&);
void modernbert_layer(Draft&, std::int64_t i, Layer&);
void finish_modernbert(Draft&);
// seq2seq.cpp: BART's kin and T5Gemma
void bart_layer(Draft&, std::int64_t i, Layer&);
void finish_bart(Draft&);
void finish_mbart(Draft&);
void t5gemma_layer(Draft&, std::int64_t i, Layer&);
void finish_t5gemma(Draft&);
void t5gemma2_layer(Draft&, std::int64_t i, Layer&);
void finish_t5gemma2(Draft&);
// latent_kin.cpp: latents, and something else
void axk2_layer(Draft&, std::int64_t i, Layer&);
void hy_v4_layer(Draft&, std::int64_t i, Layer&);
void finish_hy_v4(Draft&);
void glm5_next_layer(Draft&, std::int64_t i, Layer&);
void bailing_hybrid_layer(Draft&, std::int64_t i, Layer&);
void dots3_layer(Draft&, std::int64_t i, Layer&);
void mistral_large4_layer(Draft&, std::int64_t i, Layer&);
void finish_mistral_large4(Draft&);
// inkling.cpp
void inkling_widths(Draft&);
void inkling_layer(Draft&, std::int64_t i, Layer&);
// own_heads.cpp: layers have heads of their own number
void step3_layer(Draft&, std::int64_t i, Layer&);
void step3p5_layer(Draft&, std::int64_t i, Layer&);
void step3p5_mtp_layer(Draft&, std::int64_t last, Layer&);
void decilm_layer(Draft&, std::int64_t i, Layer&);
void openelm_layer(Draft&, std::int64_t i, Layer&);
void laguna_layer(Draft&, std::int64_t i, Layer&);
void mimo_v2_layer(Draft&, std::int64_t i, Layer&);
// longcat.cpp
void longcat_widths(Draft&);
void longcat_layer(Draft&, std::int64_t i, Layer&);
void longcat_mtp_layer(Draft&, std::int64_t last, Layer&);
void finish_longcat(Draft&);
// shared_blocks.cpp: layers share a transformer block
void zamba_layer(Draft&, std::int64_t i, Layer&);
void zamba2_layer(Draft&, std::int64_t i, Layer&);
// linear_attention.cpp
void minimax_layer(Draft&, std::int64_t i, Layer&);
void bailing_linear_layer(Draft&, std::int64_t i, Layer&);
void recurrent_gemma_layer(Draft&, std::int64_t i, Layer&);
void xlstm_layer(Draft&, std::int64_t i, Layer&);
void rwkv_widths(Draft&);
void rwkv_layer(Draft&, std::int64_t i, Layer&);
// variations.cpp: decoders that deviate in one place
void falcon_layer(Draft&, std::int64_t i, Layer&);
void ernie_vl_layer(Draft&, std::int64_t i, Layer&);
void finish_fuyu(Draft&);
void finish_molmo(Draft&);
void finish_molmo2(Draft&);
void arctic_layer(Draft&, std::int64_t i, Layer&);
void beam_layer(Draft&, std::int64_t i, Layer&);
void grok_layer(Draft&, std::int64_t i, Layer&);
void axk1_layer(Draft&, std::int64_t i, Layer&);
void bitnet_layer(Draft&, std::int64_t i, Layer&);
void gpt_neo_layer(Draft&, std::int64_t i, Layer&);
void finish_opt(Draft&);
void voxtral_realtime_layer(Draft&, std::int64_t i, Layer&);
void starcoder2_layer(Draft&, std::int64_t i, Layer&);
void persimmon_layer(Draft&, std::int64_t i, Layer&);
void apertus_layer(Draft&, std::int64_t i, Layer&);
void gpt_oss_layer(Draft&, std::int64_t i, Layer&);
void minimax_m3_layer(Draft&, std::int64_t i, Layer&);
void mllama_layer(Draft&, std::int64_t i, Layer&);
void stablelm_layer(Draft&, std::int64_t i, Layer&);
void phi3small_layer(Draft&, std::int64_t i, Layer&);
void finish_mllama(Draft&);
void internlm_layer(Draft&, std::int64_t i, Layer&);
void minicpmv_layer(Draft&, std::int64_t i, Layer&);
void llada_widths(Draft&);
void finish_diffusion(Draft&);
void finish_chatglm(Draft&);

}  // namespace kvplan::huggingface
